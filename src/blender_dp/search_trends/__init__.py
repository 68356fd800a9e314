"""Search trends: the certainty of a ranking, and changes between two releases."""
