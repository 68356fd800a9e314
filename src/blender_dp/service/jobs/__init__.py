"""Jobs of campaigns: one file per kind, and the worker that runs them."""
