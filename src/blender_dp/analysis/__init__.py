"""Analysis of a log from Python: a run, its result with everything that follows, an evaluation."""
