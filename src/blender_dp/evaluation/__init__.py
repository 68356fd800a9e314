"""How good is an answer, measured against the truth."""
