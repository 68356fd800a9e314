"""EstimateOptinProbabilities: estimates from the other part of the opt-in users (Fig. 4)."""
