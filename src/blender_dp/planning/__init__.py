"""Predictions of the results of a collection, before anything is collected."""
