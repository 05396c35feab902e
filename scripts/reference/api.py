"""The page of the Python API."""

from __future__ import annotations

import ast
import dataclasses
import inspect
from collections.abc import Iterator
from importlib import import_module
from types import FunctionType, ModuleType

from reference.markdown import code, from_docstring, prose, signature, table

INTRODUCTION = """\
# Python API

The names that a model, a test or a script of your own imports. Other modules may change without notice.
"""
MODULES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("vlgate.types", ()),
    (
        "vlgate.errors",
        (
            "VlgateError",
            "UnknownNameError",
            "DataError",
            "ImageError",
            "MissingImageError",
            "ModelLoadError",
            "ModelReplyError",
            "ClusterEndedError",
            "NoReplyError",
            "NotRememberedError",
            "ThresholdsError",
            "UnknownTaskError",
            "OptionError",
        ),
    ),
    ("vlgate.asking.predictor", ("score",)),
    ("vlgate.judging.verdicts", ("judge",)),
    ("vlgate.judging.answers", ("read_answer", "normal_answer")),
    ("vlgate.metrics.compute", ("columns", "metrics")),
    (
        "vlgate.metrics.score_rules",
        (
            "pair_case_metrics",
            "set_case_metrics",
            "choice_case_metrics",
            "quad_case_metrics",
        ),
    ),
    ("vlgate.metrics.macro", ("macro",)),
    ("vlgate.metrics.stats", ("wilson", "proportion", "smaller", "area", "separation")),
    ("vlgate.perturb.text.rewriting", ()),
    ("vlgate.perturb.text.conjunct_order", ()),
    ("vlgate.perturb.text.mirror", ()),
    ("vlgate.perturb.text.negating", ()),
    ("vlgate.perturb.text.counts", ()),
    ("vlgate.perturb.text.spatial", ()),
    ("vlgate.perturb.text.exchanging", ()),
    ("vlgate.perturb.text.fitness", ("unfit",)),
    ("vlgate.perturb.text.grammar", ()),
    ("vlgate.perturb.images", ()),
    ("vlgate.perturb.questions", ()),
)
"""The documented modules; the names of each, or all public ones if none is given."""


def page() -> str:
    """Each module with its types, classes and functions."""
    return "\n".join([INTRODUCTION, *(_module(name, names) for name, names in MODULES)])


def _module(name: str, names: tuple[str, ...]) -> str:
    module = import_module(name)
    described = [part for one in names or _public(module) for part in _described(module, one)]
    return "\n".join([f"## {name}", "", prose(module), "", *([] if names else _values(module)), *described])


def _public(module: ModuleType) -> list[str]:
    """The names that a module exports, or the classes and functions that it defines, in its order."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__ and callable(value)
    ]


def _values(module: ModuleType) -> Iterator[str]:
    """The public types and constants of a module as its source has them, each with the text below it."""
    body = ast.parse(inspect.getsource(module)).body
    for index, node in enumerate(body):
        name = _assigned(node)
        if name is None or name.startswith("_"):
            continue
        yield f"### {name}\n\n```python\n{ast.unparse(node)}\n```\n"
        below = body[index + 1] if index + 1 < len(body) else None
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str):
            yield f"{from_docstring(below.value.value)}\n"


def _assigned(node: ast.stmt) -> str | None:
    """The name that a statement assigns a short value to."""
    target = (
        node.targets[0] if isinstance(node, ast.Assign) else node.target if isinstance(node, ast.AnnAssign) else None
    )
    return target.id if isinstance(target, ast.Name) and len(ast.unparse(node)) < 200 else None


def _described(module: ModuleType, name: str) -> Iterator[str]:
    value = getattr(module, name)
    if inspect.isclass(value):
        yield from _class(value)
    elif isinstance(value, FunctionType):
        yield f"### {name}\n\n```python\n{signature(value)}\n```\n\n{prose(value)}\n"


def _class(found: type) -> Iterator[str]:
    bases = ", ".join(base.__name__ for base in found.__bases__ if base.__name__ not in {"object", "Protocol"})
    yield f"### {found.__name__}\n"
    yield f"{prose(found)}\n"
    if bases:
        yield f"Base: {code(bases)}\n"
    if dataclasses.is_dataclass(found):
        yield table(("field", "type", "default"), [_field(field) for field in dataclasses.fields(found)]) + "\n"
    for name, value in vars(found).items():
        member = value.fget if isinstance(value, property) else value
        if not isinstance(member, FunctionType) or (name.startswith("_") and not _own(found, name)):
            continue
        text = f": {code(member.__annotations__.get('return', ''))}" if isinstance(value, property) else ""
        head = f"**{name}**{text}" if text else f"```python\n{signature(member, _called(found, name))}\n```"
        yield f"{head}\n\n{prose(member)}\n"


def _own(found: type, name: str) -> bool:
    """Whether a class defines a special method that its user calls."""
    wanted = {"__call__", "__init__"} if not dataclasses.is_dataclass(found) else {"__call__"}
    return name in wanted and not getattr(found, "_is_protocol", False)


def _called(found: type, name: str) -> str:
    return found.__name__ if name == "__init__" else f"{found.__name__}.{name}"


def _field(field: dataclasses.Field[object]) -> tuple[str, str, str]:
    if field.default is not dataclasses.MISSING:
        default = code(repr(field.default))
    elif field.default_factory is not dataclasses.MISSING:
        default = code("{}") if field.default_factory() == {} else "an empty value"
    else:
        default = "required"
    return code(field.name), code(field.type), default
