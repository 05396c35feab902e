"""The options of the command line, each also a key of the ini file, and which of them the user typed."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import pytest

from vlgate.probes.controls.registry import DEFAULT_LIMIT, LIMIT, known_controls
from vlgate.record.options import DEFAULT_BATCH, DEFAULT_MODEL
from vlgate.run.planning import known_protocols

# The options of the command line: their names, values and help texts. Each is also a key of the ini file.


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One option: ``--name``, with the ini key ``vlgate_name``, and the values it accepts.

    ``help`` is a sentence without the default; ``default`` is the default as a user would type it, or in words. A
    ``flag`` takes no value; ``--no-name`` switches it off. One that is not ``lasting`` has no ini key.
    """

    name: str
    metavar: str
    help: str
    default: str = "none"
    choices: tuple[str, ...] = ()
    many: bool = False
    flag: bool = False
    lasting: bool = True

    @property
    def ini(self) -> str:
        """The key in ``pytest.ini`` or ``pyproject.toml``."""
        return "vlgate_" + self.name.replace("-", "_")

    @property
    def kind(self) -> Literal["args", "string", "bool"]:
        """The type of the value in an ini file: several words, one string, or true or false."""
        return "args" if self.many else "bool" if self.flag else "string"

    @property
    def dest(self) -> str:
        """The name under which pytest stores the option."""
        return "vlgate_option_" + self.name.replace("-", "_")


SETTINGS = (
    Setting(
        name="model",
        metavar="NAME[:WEIGHTS]",
        help="The model to test: a registered name, package.module:callable, or replay:FILE.",
        default=DEFAULT_MODEL,
    ),
    Setting(
        name="suite",
        metavar="GLOB[,GLOB]",
        help="The ids of the tasks to run, as patterns.",
        default="all tasks of the data folders; without a data folder, the embedded scenes",
        many=True,
    ),
    Setting(
        name="data",
        metavar="DIR",
        help="A data folder; the option can be repeated.",
        default="the folders of the variable VLGATE_DATA",
        many=True,
    ),
    Setting(
        name="disputes",
        metavar="FILE|known",
        help="A file of cases whose labels are disputed, which the run corrects or leaves out, and counts; known: the "
        "file of reported errors that comes with vlgate. The option can be repeated.",
        default="no file",
        many=True,
    ),
    Setting(
        name="limit",
        metavar="N",
        help="The largest number of cases per task, drawn by the seed.",
        default="all cases",
    ),
    Setting(
        name="quick",
        metavar="",
        help="A first look: at most 30 cases per task, drawn by the seed so that small slices stay; no gate can pass.",
        default="off",
        flag=True,
    ),
    Setting(
        name="pairs",
        metavar="N|paper",
        help="The number of original questions per task that is made from scene graphs; "
        "paper means as many as CARETS has.",
        default="1000",
    ),
    Setting(
        name="items",
        metavar="auto|pair|batch",
        help="The cases of one pytest item: one with pair, many with batch; auto means pair for up to 2,000 cases, "
        "otherwise batch.",
        default="auto",
        choices=("auto", "pair", "batch"),
    ),
    Setting(
        name="thresholds",
        metavar="FILE",
        help="The file with the gates.",
        default="thresholds.toml in the start folder or the rootdir; without a data folder also the shipped one",
    ),
    Setting(
        name="baseline",
        metavar="DIR|first",
        help="The results folder of an earlier run, to compare with case by case; by default there is none. With "
        "first, gates on a comparison are not run, because there is no earlier run yet; a folder of that name is "
        "./first.",
        default="no comparison",
    ),
    Setting(
        name="require-gates",
        metavar="",
        help="Whether a run without a judged gate ends with status 1.",
        default="on if the environment variable CI is set, otherwise off",
        flag=True,
    ),
    Setting(name="results", metavar="DIR", help="The folder for the run's files.", default="results/<time>-<model>"),
    Setting(
        name="overwrite",
        metavar="",
        help="Replace the files of an earlier run in the results folder, which is refused otherwise.",
        default="off",
        flag=True,
    ),
    Setting(
        name="shard",
        metavar="I/N",
        help="The part of the run that this process asks, such as 2/4; no gate is judged before vlgate merge joins the "
        "N parts.",
        default="the whole run, which judges its gates itself",
        lasting=False,  # a run whose ini file names a part would never judge its gates
    ),
    Setting(
        name="cache",
        metavar="DIR|off",
        help="The folder in which the model's replies are kept, so that no later run asks for them again.",
        default="the variable VLGATE_CACHE, or a folder in the user's cache",
    ),
    Setting(
        name="cache-limit",
        metavar="SIZE",
        help="The most space that the cache may take, such as 500MB; the oldest replies make room for new ones.",
        default="10GiB",
    ),
    Setting(
        name="device",
        metavar="DEVICE",
        help="The device that the model runs on: auto, cpu, cuda, cuda:1 or mps.",
        default="auto",
    ),
    Setting(
        name="dtype",
        metavar="DTYPE",
        help="The floating-point type of the model: float32, bfloat16 or float16.",
        default="float32",
    ),
    Setting(
        name="compile",
        metavar="on|off",
        help="Whether torch.compile compiles the blocks of the model.",
        default="off",
        choices=("on", "off"),
    ),
    Setting(
        name="batch-size",
        metavar="auto|N",
        help="The largest number of requests per call of the model, which is halved whenever memory runs out; "
        f"auto means {DEFAULT_BATCH}, or less if memory ran out in an earlier run of the model on this device.",
        default="auto",
    ),
    Setting(
        name="call-timeout",
        metavar="SECONDS",
        help="The longest time that one call of the model may take; if one takes longer, the process says which and "
        "ends with status 1.",
    ),
    Setting(
        name="ray",
        metavar="auto|HOST:PORT",
        help="The Ray cluster whose actors score the run, one on each GPU or, without GPUs, one on each node; auto "
        "means the cluster that this machine belongs to.",
    ),
    Setting(
        name="ask",
        metavar="apart|together",
        help="How cases of several images are asked: apart asks about one image at a time, together about all of them "
        "in one prompt, in two orders, which needs a model with a method compare().",
        default="apart",
        choices=("apart", "together"),
    ),
    Setting(
        name="ties",
        metavar="strict|half|credit",
        help="What an exact tie of two scores counts: strict 0, half 1/2, credit 1.",
        default="strict",
        choices=("strict", "half", "credit"),
    ),
    Setting(
        name="missing-images",
        metavar="fail|skip",
        help="Whether a case whose image is missing fails its test or is skipped.",
        default="fail",
        choices=("fail", "skip"),
    ),
    Setting(
        name="protocol",
        metavar="NAME[,NAME]",
        help="Other ways to read or score a benchmark: "
        + "; ".join(f"{name}: {about}" for name, about in known_protocols().items())
        + ".",
        many=True,
    ),
    Setting(
        name="health",
        metavar="auto|on|off",
        help="Whether to look for flaws and text-only shortcuts in the tasks; auto means on for up to 20,000 cases.",
        default="auto",
        choices=("auto", "on", "off"),
    ),
    Setting(
        name="log-to",
        metavar="wandb|mlflow",
        help="The trackers of experiments that get the figures, gates and report.html of the run.",
        default="no tracker",
        many=True,
    ),
    Setting(name="seed", metavar="N", help="The seed of all random choices.", default="0"),
    Setting(
        name="explain",
        metavar="N",
        help="The number of missed cases per task to explain, the worst first, by asking about 150 changed copies of "
        "each.",
        default="0",
    ),
    Setting(
        name="controls",
        metavar="NAME[,NAME]",
        help="The controls to ask after the cases: "
        + "; ".join(f"{name}: {about}" for name, about in known_controls().items())
        + "; or none.",
        default="look for the embedded model on the embedded scenes, otherwise none",
        many=True,
    ),
    Setting(
        name="controls-limit",
        metavar="N",
        help="The largest number of cases per task that each control is asked about, drawn by the seed.",
        default=f"{LIMIT}; {DEFAULT_LIMIT} if --controls is not given",
    ),
    Setting(
        name="shrink-budget",
        metavar="N",
        help="The largest number of requests per search, with -m shrink.",
        default="200",
    ),
    Setting(
        name="shrink-cases",
        metavar="N",
        help="The number of cases per task to search, with -m shrink.",
        default="5",
    ),
    Setting(
        name="shrink-edits",
        metavar="NAME[,NAME]",
        help="What -m shrink changes: scene (a thing of a drawn scene), region (a part of a photograph that the texts "
        "do not name), image (all of it), wording (a text).",
        default="scene,region,image,wording",
        many=True,
    ),
)


def add(parser: pytest.Parser) -> None:
    """Add all options and ini keys."""
    group = parser.getgroup("vlgate", "gates for vision-and-language models (vlgate)")
    for setting in SETTINGS:
        about = f"{setting.help} (default: {setting.default})"
        if setting.flag:
            group.addoption(f"--{setting.name}", dest=setting.dest, default=None, action="store_true", help=about)
            opposite = f"The opposite of --{setting.name}."
            group.addoption(f"--no-{setting.name}", dest=setting.dest, action="store_false", help=opposite)
        else:
            action = "append" if setting.many else "store"
            group.addoption(
                f"--{setting.name}",
                dest=setting.dest,
                metavar=setting.metavar,
                default=None,
                action=action,
                help=about,
            )
        if setting.lasting:
            parser.addini(setting.ini, f"The same as --{setting.name}.", type=setting.kind, default=None)


# What the user typed, and ``--data DIR`` joined to ``--data=DIR``, so that it is not taken for a test path.
#
# pytest determines the rootdir and the ini file before it loads plugins. At that time it does not know ``--data``, and
# an existing ``DIR`` after it looks like a path to collect from: the rootdir becomes an ancestor of it, ``testpaths``
# is ignored, and the user's other tests run instead of the suite. This does not happen with ``--data=DIR``, so a
# session that was started with a space is started again with an equals sign.

AGAIN = pytest.StashKey[bool]()
"""Whether the session was started again with joined arguments, and this configuration has no session of its own."""
LISTS = MappingProxyType(
    {
        "help": "--help",
        "version": "--version",
        "markers": "--markers",
        "showfixtures": "--fixtures",
        "show_fixtures_per_test": "--fixtures-per-test",
        "collectonly": "--collect-only",
    }
)
"""The options that list something instead of running a test, by the name that pytest stores them under."""


def typed(config: pytest.Config) -> argparse.Namespace:
    """Return the options of the command line alone, without those of an ini file and of ``PYTEST_ADDOPTS``."""
    return config._parser.parse_known_args(list(config.invocation_params.args))  # noqa: SLF001  # what pytest calls


def ours(options: argparse.Namespace) -> list[str]:
    """Return those of some options that are vlgate's, as the words of a command."""
    words = []
    for setting in SETTINGS:
        value = getattr(options, setting.dest, None)
        if setting.flag:
            words += [] if value is None else [f"--{'' if value else 'no-'}{setting.name}"]
        else:
            values = value if isinstance(value, list) else [] if value is None else [value]
            words += [f"--{setting.name}={one}" for one in values]
    return words


def joined(args: Sequence[str], folder: Path) -> list[str]:
    """Return the arguments with ``--option=value`` for each of our options whose value is, or will be, a path.

    The folder of results counts as a path: it is made while the session starts, before the workers of xdist do.

    Args:
        args: the arguments of the user.
        folder: the folder that the user started in.

    Returns: a new list; it equals ``args`` if there is nothing to join.
    """
    ours = {f"--{setting.name}" for setting in SETTINGS if not setting.flag}
    found: list[str] = []
    for arg in args:
        if found and found[-1] in ours and (found[-1] == "--results" or (folder / arg).exists()):
            found[-1] = f"{found[-1]}={arg}"
        else:
            found.append(arg)
    return found


def start_again(config: pytest.Config) -> int | pytest.ExitCode | None:
    """Run the session with joined arguments and return its exit status; None if there is nothing to join.

    ``PYTEST_ADDOPTS`` is joined too, and is not restored, because the workers of xdist read it again.
    """
    folder = config.invocation_params.dir
    given, added = list(config.invocation_params.args), shlex.split(os.environ.get("PYTEST_ADDOPTS", ""))
    args, more = joined(given, folder), joined(added, folder)
    if (args, more) == (given, added):
        return None
    os.environ["PYTEST_ADDOPTS"] = shlex.join(more)
    config.stash[AGAIN] = True
    return pytest.main(args, plugins=config.invocation_params.plugins)
