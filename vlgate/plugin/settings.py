"""The options of the command line, each also an ini key: what they are called, what they take and what they mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pytest

from vlgate.options import DEFAULT_MODEL
from vlgate.planning import known_protocols


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One option: ``--name``, the ini key ``vlgate_name``, and what it takes."""

    name: str
    metavar: str
    help: str
    choices: tuple[str, ...] = ()
    many: bool = False

    @property
    def ini(self) -> str:
        """The key in ``pytest.ini`` or ``pyproject.toml``."""
        return "vlgate_" + self.name.replace("-", "_")

    @property
    def kind(self) -> Literal["args", "string"]:
        """What an ini file's value is: words, or one string."""
        return "args" if self.many else "string"

    @property
    def dest(self) -> str:
        """Where pytest keeps the option."""
        return "vlgate_option_" + self.name.replace("-", "_")


SETTINGS = (
    Setting(
        name="model",
        metavar="NAME[:WEIGHTS]",
        help="the model: a registered name, package.module:callable, or replay:FILE "
        f"(default: the embedded {DEFAULT_MODEL})",
    ),
    Setting(
        name="suite",
        metavar="GLOB[,GLOB]",
        help="the tables to ask, by id (default: all of the data folders; without one, the embedded scenes)",
        many=True,
    ),
    Setting(name="data", metavar="DIR", help="a data folder; repeatable; also VLGATE_DATA", many=True),
    Setting(name="limit", metavar="N", help="at most N cases a table: a seeded sample (default: all)"),
    Setting(
        name="pairs",
        metavar="N|paper",
        help="the questions of a test that is made from scene graphs (default: 1000; paper: as many as CARETS has)",
    ),
    Setting(
        name="items",
        metavar="auto|pair|batch",
        help="what a pytest item is; auto: one a case up to 2,000 cases, batches above (default: auto)",
        choices=("auto", "pair", "batch"),
    ),
    Setting(
        name="thresholds",
        metavar="FILE",
        help="the gates (default: thresholds.toml of the rootdir, else the shipped one)",
    ),
    Setting(name="results", metavar="DIR", help="where the run's files go (default: results/<time>-<model>)"),
    Setting(name="device", metavar="DEVICE", help="auto, cpu, cuda, cuda:1, mps (default: auto)"),
    Setting(name="dtype", metavar="DTYPE", help="the model's numbers: float32, bfloat16, float16 (default: float32)"),
    Setting(
        name="compile",
        metavar="on|off",
        help="the model's blocks through torch.compile (default: off)",
        choices=("on", "off"),
    ),
    Setting(name="batch-size", metavar="auto|N", help="requests a model call; halves when memory runs out"),
    Setting(
        name="ties",
        metavar="strict|half|credit",
        help="what an exact tie counts (default: strict, a tie is a miss)",
        choices=("strict", "half", "credit"),
    ),
    Setting(
        name="missing-images",
        metavar="fail|skip",
        help="what a case without its picture does (default: fail)",
        choices=("fail", "skip"),
    ),
    Setting(
        name="protocol",
        metavar="NAME[,NAME]",
        help="read or score a benchmark otherwise than by default; "
        + "; ".join(f"{name}: {about}" for name, about in known_protocols().items()),
        many=True,
    ),
    Setting(
        name="health",
        metavar="auto|on|off",
        help="look for flaws and text-only shortcuts in the tables; auto: up to 20,000 cases (default: auto)",
        choices=("auto", "on", "off"),
    ),
    Setting(name="seed", metavar="N", help="of every random choice (default: 0)"),
    Setting(name="shrink-budget", metavar="N", help="with -m shrink: requests a search asks at most (default: 200)"),
    Setting(name="shrink-cases", metavar="N", help="with -m shrink: cases a table that are searched (default: 5)"),
)


def add(parser: pytest.Parser) -> None:
    """Add all options and ini keys."""
    group = parser.getgroup("vlgate", "gates for vision-and-language models (vlgate)")
    for setting in SETTINGS:
        group.addoption(
            f"--{setting.name}",
            dest=setting.dest,
            metavar=setting.metavar,
            default=None,
            action="append" if setting.many else "store",
            help=setting.help,
        )
        parser.addini(setting.ini, f"as --{setting.name}", type=setting.kind, default=None)
