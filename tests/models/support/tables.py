"""Objects of transformers that a table describes: ``class`` is one made of the other values, ``base`` a named table."""

import re
import tomllib
from functools import reduce
from pathlib import Path

import transformers


def read(module):
    """The sections of the table beside a module, and its bases."""
    sections = tomllib.loads(Path(module).with_suffix(".toml").read_text(encoding="utf-8"))
    bases = sections.pop("base")
    return {name: {**sections.get(about.get("like"), {}), **about} for name, about in sections.items()}, bases


def filled(value, bases, names):
    """A value of a table, in which ``$name`` or ``$name+N`` stands for one of ``names``."""
    if isinstance(value, str) and (sign := re.fullmatch(r"\$(\w+)([+-]\d+)?", value)):
        return names[sign[1]] + int(sign[2]) if sign[2] else names[sign[1]]
    if isinstance(value, list):
        return [filled(part, bases, names) for part in value]
    if not isinstance(value, dict):
        return value
    base = filled(bases[value["base"]], bases, names) if "base" in value else {}
    rest = {name: filled(part, bases, names) for name, part in value.items() if name not in ("base", "class", "set")}
    rest = base | {int(name) if name.isdecimal() else name: part for name, part in rest.items()}
    if "class" not in value:
        return rest
    found = reduce(getattr, value["class"].split("."), transformers)(**rest)
    for name, part in value.get("set", {}).items():
        setattr(found, name, part)
    return found
