"""Makes the files of the releases that other tests write importable here."""

import sys
from pathlib import Path

for _folder in ("models/support", "sources/benchmarks"):
    sys.path.insert(0, str(Path(__file__).parents[1] / _folder))
