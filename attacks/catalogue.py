"""List the models of ``models/`` without importing them: some end the process that imports them.

Each public function of a file there builds a model, and the first line of its docstring says what the model does.
``ALONE = True`` in a file means that its models change or end their process, ``LIMIT = True`` that they never return.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

MODELS = Path(__file__).parent / "models"
SUPPORT = {"eyes", "habits"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """One model: ``name`` is its ``module:function``, ``about`` what it does, ``good`` whether a gate must pass it.

    ``alone`` says that it needs a process of its own, ``hangs`` that only a limit of time ends it.
    """

    name: str
    about: str
    good: bool
    alone: bool
    hangs: bool


def models() -> tuple[Model, ...]:
    """Return all models, the good ones first."""
    files = [file for file in MODELS.glob("*.py") if file.stem not in SUPPORT]
    files.sort(key=lambda file: (not file.stem.startswith("good"), file.stem))
    return tuple(model for file in files for model in _models_of(file))


def _models_of(file: Path) -> list[Model]:
    body = ast.parse(file.read_text(encoding="utf-8")).body
    flags = {
        node.targets[0].id for node in body if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    return [
        Model(
            name=f"{file.stem}:{node.name}",
            about=(ast.get_docstring(node) or "").partition("\n")[0],
            good=file.stem.startswith("good"),
            alone="ALONE" in flags,
            hangs="LIMIT" in flags,
        )
        for node in body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    ]
