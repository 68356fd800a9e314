"""Issuer: signs report tokens blindly, one per person and campaign, behind a login."""
