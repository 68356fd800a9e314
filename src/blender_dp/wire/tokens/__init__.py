"""Report tokens: blindly signed, so that each person reports once and nobody knows which report."""
