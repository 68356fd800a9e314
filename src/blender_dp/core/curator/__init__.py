"""The curator's side: budget, plans for the noise, and the numbers that are released."""
