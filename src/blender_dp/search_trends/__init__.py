"""What is trending: how sure a ranking is, and what changed between two releases."""
