"""Storage of encrypted reports, without anything about their senders."""
