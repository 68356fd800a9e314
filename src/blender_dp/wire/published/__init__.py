"""Documents that a curator publishes."""
