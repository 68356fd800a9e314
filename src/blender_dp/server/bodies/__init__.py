"""Request bodies: memory, threads and strict JSON."""
