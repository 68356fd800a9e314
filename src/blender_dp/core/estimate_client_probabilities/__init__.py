"""EstimateClientProbabilities: estimates from the clients' private reports (Fig. 5)."""
