"""Documents between a collection service and its clients."""
