"""The algorithm: pure, vectorised, no input or output."""
