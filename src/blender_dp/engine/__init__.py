"""Engines that read search logs and count users and records."""
