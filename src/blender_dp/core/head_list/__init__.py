"""The head list and the numbers of its cells."""
