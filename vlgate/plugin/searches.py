"""Whether a session searches for the smallest changes that break cases, which ``-m shrink`` asks for."""

from __future__ import annotations

import re
from importlib.util import find_spec

import pytest

from vlgate.errors import OptionError
from vlgate.run.options import Options

SHRINK = "shrink"


def searches_wanted(config: pytest.Config) -> bool:
    """Whether ``-m`` names the marker ``shrink``."""
    return re.search(rf"\b{SHRINK}\b", config.getoption("markexpr", "") or "") is not None


def only_searches(session: pytest.Session) -> bool:
    """Whether only searches are selected, so that the run has no figures."""
    return all(item.get_closest_marker(SHRINK) is not None for item in session.items)


def check_searches(options: Options) -> None:
    """Raise OptionError if the searches cannot be made: without hypothesis, or of cases that are asked together."""
    if options.ask == "together":
        raise OptionError(
            f"-m {SHRINK}: with --ask=together, no changed case could be kept as one of your own; leave --ask out"
        )
    if find_spec("hypothesis") is None:
        raise OptionError(f"-m {SHRINK}: needs hypothesis, which is not installed; run pip install 'vlgate[shrink]'")
