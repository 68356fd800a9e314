"""Other people's methods on the same users, for the same promise, measured the same way."""
