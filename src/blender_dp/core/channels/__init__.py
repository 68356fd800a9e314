"""Reports of devices: one file per mechanism."""
