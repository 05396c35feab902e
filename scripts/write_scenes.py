"""Write the shipped tasks about the drawn scenes, ``fixtures/scenes/default.zip``, or check that they are up to date.

    python scripts/write_scenes.py [--check]

The tasks are those that the code makes of seed 0. ``--check`` changes nothing, and ends with status 1 if they differ.
"""

from __future__ import annotations

import argparse
import sys

from vlgate.sources.scenes import TASKS
from vlgate.sources.scenes.made import make
from vlgate.sources.scenes.scenes import FILE, SHIPPED_SEED, contents, read_contents, shipped_version, write


def main() -> int:
    """Write the file, or compare; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; end with status 1 if the file is stale")
    made = contents(make(TASKS, SHIPPED_SEED))
    if not parser.parse_args().check:
        write(made)
        print(f"{FILE}: {FILE.stat().st_size:,} bytes, version {shipped_version()}")
        return 0
    held = read_contents()
    stale = sorted(name for name in made.keys() | held.keys() if made.get(name) != held.get(name))
    print(f"{FILE}: stale: {', '.join(stale)}; run scripts/write_scenes.py" if stale else f"{FILE}: up to date")
    return int(bool(stale))


if __name__ == "__main__":
    sys.exit(main())
