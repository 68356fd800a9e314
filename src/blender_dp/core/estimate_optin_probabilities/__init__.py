"""EstimateOptinProbabilities: how popular, says the other part of the opt-in users (Fig. 4)."""
