"""Storage of the issuer: who got an answer, as keyed hashes."""
