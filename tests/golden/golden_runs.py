"""What the golden runs are: groups of commands, each in an empty folder that has the files of ``inputs`` and the data.

A command's output and exit status are a file of the folder, LABEL.out. ``golden_runs.toml`` has the groups.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

INPUTS = Path(__file__).parent / "inputs"
SHARED = Path(__file__).parents[3] / "shared/data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    commands: dict[str, str]
    real: bool = False
    wordnet: bool = False
    neural: bool = False
    quick: bool = False
    varying: tuple[str, ...] = ()


def _groups() -> dict[str, Group]:
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    names = table.pop("names")
    return {
        name: Group(**{**group, "commands": {label: one.format(**names) for label, one in group["commands"].items()}})
        for name, group in table.items()
    }


GROUPS = _groups()
