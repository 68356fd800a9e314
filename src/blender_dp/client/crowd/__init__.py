"""A simulated crowd of people and their devices."""
