"""EstimateClientProbabilities: how popular, say the clients' private reports (Fig. 5)."""
