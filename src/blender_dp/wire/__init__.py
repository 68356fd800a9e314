"""What travels between curator, devices and readers of a release: versioned files."""
