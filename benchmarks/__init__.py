"""Speed and memory against peers and lower bounds, in one run on one machine."""
