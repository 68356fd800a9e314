"""The ledger of a device: its reports and contributions, with their costs."""
