"""Versioned documents between curator, devices, service and readers of a release; data only."""
