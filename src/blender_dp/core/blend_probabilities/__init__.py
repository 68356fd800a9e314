"""BlendProbabilities: one answer from both groups (Fig. 7)."""
