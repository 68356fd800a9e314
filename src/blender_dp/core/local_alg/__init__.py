"""LocalAlg, the step that runs on the client (Fig. 6)."""
