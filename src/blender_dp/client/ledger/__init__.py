"""The ledger of a device: what it sent and what that cost."""
