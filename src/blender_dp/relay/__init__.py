"""Relay: keeps encrypted reports, shuffles those of a sealed campaign and forwards them once."""
