"""Speed of the client in a browser."""
