"""Share page of a campaign: what a person reads before they decide to take part."""
