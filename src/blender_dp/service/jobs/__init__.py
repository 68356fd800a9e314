"""Work that a campaign waits for: one file a kind, and the worker that runs them."""
