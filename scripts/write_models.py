"""Write the tables of docs/models.md and docs/servers.md that models.toml decides: `python scripts/write_models.py`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from vlgate.models.specs import ModelSpec, Option, registered

PAGES = [Path(__file__).resolve().parents[1] / "docs" / name for name in ("models.md", "servers.md")]


def page(text: str) -> str:
    """The page with its tables as models.toml has them."""
    specs = list(registered().values())
    tables = {
        "name | weights | licence | parameters": _weights(specs),
        "models | option | what": _options([spec for spec in specs if spec.name != "openai"]),
        "option | meaning | default": _served(registered()["openai"]),
    }
    for heading, rows in tables.items():
        lines = "\n".join(f"| {row} |" for row in rows)
        rule = "|".join("---" for _ in heading.split("|"))
        made = f"| {heading} |\n|{rule}|\n{lines}\n"
        text = re.sub(rf"\| {re.escape(heading)} \|\n\|[-|]+\|\n(?:\|.*\|\n)*", made.replace("\\", r"\\"), text)
    return text


def _weights(specs: Iterable[ModelSpec]) -> Iterator[str]:
    for spec in specs:
        if spec.weights:
            # The licence of the code, if the model's card names none.
            code = re.search(r"the licence of (\S+) is (\w+)( \(unconfirmed\))?", spec.note)
            beside = f" ({code[1]}: {code[2]}{', unconfirmed' if code[3] else ''})" if code else ""
            yield f"`{spec.name}` | `{spec.weights}` | {spec.licence or f'unknown{beside}'} | {spec.millions:,} M"


def _options(specs: Iterable[ModelSpec]) -> Iterator[str]:
    models: dict[tuple[str, str], list[str]] = {}
    for spec in specs:
        for name, option in spec.options.items():
            if option.help:
                models.setdefault((_written(name, option), option.help), []).append(spec.name)
    rows = sorted(models.items(), key=lambda row: (row[0][0].partition("=")[0], row[1]))
    for (written, what), names in rows:
        short = dict.fromkeys("volta-*" if name.startswith("volta-") else name for name in names)  # they take the same
        yield f"{', '.join(f'`{name}`' for name in short)} | {written} | {what}"


def _written(name: str, option: Option) -> str:
    if not option.values:
        return f"`{name}={option.form}`"
    first, *others = option.values
    return f"`{name}={first}` (the default), " + ", ".join(f"`{value}`" for value in others)


def _served(spec: ModelSpec) -> Iterator[str]:
    for name, option in spec.options.items():
        default = f"`{option.default}`" if name in ("format", "key_env") else option.default
        yield f"`{name}={option.form}` | {option.help} | {default}"


if __name__ == "__main__":
    for file in PAGES:
        file.write_text(page(file.read_text(encoding="utf-8")), encoding="utf-8")
