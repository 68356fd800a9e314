"""Reports of devices as bytes."""
