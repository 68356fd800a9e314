"""What an organisation tells the public about one result: a registry record and a privacy label."""
