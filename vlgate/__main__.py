"""Run the command ``vlgate`` as ``python -m vlgate``."""

import sys

from vlgate.cli import main

if __name__ == "__main__":
    sys.exit(main())
