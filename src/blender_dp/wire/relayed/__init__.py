"""Reports that pass through a relay: encrypted by devices, shuffled and forwarded in batches."""
