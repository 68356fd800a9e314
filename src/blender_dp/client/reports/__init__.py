"""Reports of a device: rules, tokens, and what is drawn once and sent."""
