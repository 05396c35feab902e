"""Show which task catches which defect: each task, asked of models with one defect each.

The models are the reading oracle with one faculty broken, and models that do not look at the image. A task should catch
the defects that it claims to catch, and no others.
"""

import argparse
import json
from dataclasses import replace

from vlgate.cli import chosen, options_of, say
from vlgate.errors import OptionError


def run(given: argparse.Namespace) -> int:
    """Return the exit status: 0 if every cell is as claimed, else 1; 4 if an option cannot be used."""
    from vlgate.studies.sensitivity.matrix import NAMES, asked, lines, needs, page, record

    defects = tuple(chosen(given.defects, NAMES, "defect"))
    if given.list:
        say(*(f"{name}: {NAMES[name]}" for name in defects))
        return 0
    if given.limit is not None and given.limit < 1:
        raise OptionError(f"--limit {given.limit}: expected a number above 0")
    found = []
    for seed in given.seed:
        found.append(asked(replace(options_of(given), limit=given.limit, seed=seed), defects))
        title = [f"seed {seed}"] if len(given.seed) > 1 else []
        say(*(*title, *lines(found[-1]), *needs(found[-1])))
    if given.out is not None:
        given.out.mkdir(parents=True, exist_ok=True)
        (given.out / "sensitivity.html").write_text(page(*found), encoding="utf-8")
        (given.out / "sensitivity.json").write_text(json.dumps(record(*found), indent=1) + "\n", encoding="utf-8")
    return int(any(matrix.problems for matrix in found))


def _seeds(text: str) -> tuple[int, ...]:
    try:
        return tuple(dict.fromkeys(int(part) for part in text.split(",")))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number or several, such as 0,1,2") from None


OPTIONS = {"seed": {"type": _seeds, "default": (0,)}}
