"""The objects that a test gives its verdicts, or its search, to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pytest

from vlgate.judging.causes import causes
from vlgate.judging.judged import Verdicts, verdicts_of
from vlgate.run.options import Options
from vlgate.types import Verdict

if TYPE_CHECKING:
    from vlgate.shrink.search import Search

_SHOWN = 5  # the most causes in a failure's message
VERDICTS = pytest.StashKey[Sequence[Verdict]]()
SEARCH = pytest.StashKey["Search"]()


class ItemLedger:
    """Keeps the verdicts of one item for the process that judges the gates."""

    def __init__(self, item: pytest.Item, given: Callable[[], object]) -> None:
        """Write to ``item``, whose report carries the verdicts; ``given`` returns what the fixture ``model`` gave."""
        self.item = item
        self.given = given

    def record(self, verdicts: Sequence[Verdict]) -> None:
        """Keep the verdicts; the test fails if a case could not be scored, and is skipped if all were left out.

        A case that the model gets wrong is a result, not a failure.
        """
        _check_asked(self.item, self.given())
        self.item.stash[VERDICTS] = verdicts
        found = verdicts_of(verdicts)
        unscored = [row for row, state in enumerate(found.states) if state == "unscored"]
        if unscored:
            head = f"{len(unscored)} of {len(verdicts)} cases could not be scored"
            pytest.fail("\n".join([head, *_whys(found)]) if len(verdicts) > 1 else found.why(0), pytrace=False)
        if all(state == "skipped" for state in found.states):
            pytest.skip("image missing")


def _whys(verdicts: Verdicts) -> list[str]:
    """Why the unscored cases of an item have no reply: one line per cause, with the first case that has it."""
    found = causes([verdicts])
    more = [f"and {len(found) - _SHOWN} more causes"] if len(found) > _SHOWN else []
    lines = [
        f"{one.example}: {one.sentence}"
        if len(one.reasons) == 1
        else f"{len(one.reasons)} cases, the first is {one.example}: {one.sentence}"
        for one in found[:_SHOWN]
    ]
    return [*lines, *more]


class ItemSearch:
    """The settings of the search of one item's case, and the object that the test gives the search to."""

    def __init__(self, item: pytest.Item, options: Options, given: Callable[[], object]) -> None:
        """Write to ``item``; ``given`` returns what the fixture ``model`` gave."""
        self.item = item
        self.budget = options.shrink_budget
        self.families = options.shrink_edits
        self.seed = options.seed
        self.given = given

    def record(self, search: Search) -> None:
        """Keep the search; the test fails if the unchanged case could not be scored.

        A change that breaks the case is a result, not a failure; so is a case that is wrong without a change. The test
        is skipped if the case's image was left out, or if the model has no reply to any changed case.
        """
        _check_asked(self.item, self.given())
        self.item.stash[SEARCH] = search
        if search.ending == "unscored":
            pytest.fail(search.original.why, pytrace=False)
        if search.ending == "skipped":
            pytest.skip(search.note or "image missing")


def _check_asked(item: pytest.Item, given: object) -> None:
    """Fail the test if its model is not the one that this plugin loaded: another one, or one that wraps it."""
    used = getattr(item, "funcargs", {}).get("model", given)
    if given is None or used is not given:
        message = "the fixture 'model' is not vlgate's, so the replies are not those of the model of --model"
        pytest.fail(f"{message}; a conftest.py defines a fixture of the same name: rename it", pytrace=False)
