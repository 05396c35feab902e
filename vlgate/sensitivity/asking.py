"""Reads the tasks that options name, and makes their matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vlgate.models.reference.defects import SAYS
from vlgate.run.baseline import lessons
from vlgate.run.options import Options
from vlgate.run.planning import make_plan
from vlgate.sensitivity.claims import claims
from vlgate.sensitivity.matrix import Matrix, matrix

NAMES: Mapping[str, str] = SAYS
"""What is broken, in a sentence, by the name of the defect."""


def asked(options: Options, defects: Sequence[str]) -> Matrix:
    """Return the matrix of the tasks that the options name.

    Raises: OptionError, UnknownNameError or DataError as ``run.planning.make_plan``.
    """
    tasks = make_plan(options).tasks
    learnt = lessons(tasks, options) if "blind" in defects else {}
    return matrix(tasks, defects, claims(), learnt, seed=options.seed)
