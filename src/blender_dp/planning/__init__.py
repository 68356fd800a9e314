"""Predictions of what a collection would find, before anything is collected."""
