"""Throughput of the collection service: reports per second, each on disk before the answer."""

import sys
from pathlib import Path

# The reports and the PostgreSQL of the kill tests are used here too.
sys.path.append(str(Path(__file__).parents[2] / "tests"))
