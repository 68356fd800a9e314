"""Public account of one result: a record for a registry of deployments, and a privacy label."""
