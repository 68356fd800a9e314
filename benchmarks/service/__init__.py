"""How many reports the collection service takes in a second, each on disk before it is answered."""

import sys
from pathlib import Path

# The reports and the PostgreSQL of the kill tests are used here too.
sys.path.append(str(Path(__file__).parents[2] / "tests"))
