"""HTTP: routes, bodies, answers and access."""
