"""What a test writes its verdicts into."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pytest

from vlgate.options import Options
from vlgate.types import Verdict

if TYPE_CHECKING:
    from vlgate.shrink.search import Search

_SHOWN = 5  # reasons in a failure's message
VERDICTS = pytest.StashKey[Sequence[Verdict]]()
SEARCH = pytest.StashKey["Search"]()


class ItemLedger:
    """Keeps one item's verdicts for the process that judges the gates."""

    def __init__(self, item: pytest.Item, asked: Callable[[], bool]) -> None:
        """Write to ``item``, whose report takes the verdicts along; ``asked`` says whether the model was loaded."""
        self.item = item
        self.asked = asked

    def record(self, verdicts: Sequence[Verdict]) -> None:
        """Keep the verdicts; the test fails where a case could not be scored, and is skipped where all were left out.

        A case that the model got wrong is a result, not a failure.
        """
        _check_asked(self.asked)
        self.item.stash[VERDICTS] = verdicts
        unscored = [verdict for verdict in verdicts if verdict.state == "unscored"]
        if unscored:
            reasons = [verdict.why for verdict in unscored[:_SHOWN]]
            more = [f"and {len(unscored) - _SHOWN} more"] if len(unscored) > _SHOWN else []
            head = f"{len(unscored)} of {len(verdicts)} cases could not be scored"
            pytest.fail("\n".join([head, *reasons, *more]) if len(verdicts) > 1 else reasons[0], pytrace=False)
        if all(verdict.state == "skipped" for verdict in verdicts):
            pytest.skip("picture missing")


class ItemSearch:
    """How one item's case is searched, and where the search goes that its report takes along."""

    def __init__(self, item: pytest.Item, options: Options, asked: Callable[[], bool]) -> None:
        """Write to ``item``; ``asked`` says whether the model was loaded."""
        self.item = item
        self.budget = options.shrink_budget
        self.seed = options.seed
        self.asked = asked

    def record(self, search: Search) -> None:
        """Keep what was found; the test fails where the case as it stands could not be scored.

        A change that breaks the case is a result, not a failure, and so is a case that is wrong as it stands. The test
        is skipped where the case's picture was left out, or the model has no reply to any changed case.
        """
        _check_asked(self.asked)
        self.item.stash[SEARCH] = search
        if search.ending == "unscored":
            pytest.fail(search.original.why, pytrace=False)
        if search.ending == "skipped":
            pytest.skip(search.note or "picture missing")


def _check_asked(asked: Callable[[], bool]) -> None:
    if not asked():
        message = "the fixture 'model' is not vlgate's: a conftest has one of that name, and --model was never asked"
        pytest.fail(f"{message}; rename that fixture", pytrace=False)
