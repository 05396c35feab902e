"""What passes between a run and the actors that hold its model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["numbers", "rows", "strings", "plain"]

ASKED = ("match", "encode_images", "encode_texts", "accepts", "answer", "compare", "perplexity")
"""The methods of a model that are called in batches; see the protocols of ``vlgate.types``."""
CHECKS = ("check_compare",)
"""The methods of a model that take nothing and raise what is wrong."""
PLAIN = ("text_keys", "boxes", "attended", *CHECKS)
"""The methods of a model that are called as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The model that every actor loads, as the options of the run name it.

    ``threads`` is the number of threads that it may compute with; None for the share of its actor.
    """

    model: str
    folder: Path
    device: str = "auto"
    dtype: str = "float32"
    seed: int = 0
    compiled: bool = False
    threads: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """What a loaded model shows of itself; see ``LoadedModel``.

    ``methods`` are those of ``ASKED`` and ``PLAIN`` that the model has, ``threshold`` is its ``decision_threshold``,
    ``prepares`` whether it has a method ``prepare``, ``image_names`` whether it needs the names of images.
    ``gpu`` is the name of its GPU, empty without one.
    """

    name: str
    weights: str
    fingerprint: str
    registered: bool
    device: str
    methods: tuple[str, ...]
    threshold: object = None
    prepares: bool = False
    image_names: bool = False
    gpu: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a model's method ``called``: what ``kind`` of reply it has, and whether NaN is a valid number."""

    called: str
    kind: Kind
    nan: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Replied:
    """The replies to the items of a call.

    ``digests`` holds the digests of the pixels that were noted, each with the position of its item; see
    ``vlgate.inference.alike``. ``cut`` holds the texts that the model did not read to the end, ``neither`` the
    positions of the items whose answer probably begins with neither yes nor no.
    """

    replies: object
    digests: tuple[tuple[int, bytes], ...] = ()
    cut: tuple[str, ...] = ()
    neither: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TooLarge:
    """The actor ran out of memory on more than one item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotHere:
    """A file of an image is not on the actor's node, or has another size there."""

    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """What the model raised: the class, by which it is made again, its arguments and state, and its traceback.

    ``said`` is the class and the message as one line.
    """

    module: str
    name: str
    said: str
    args: tuple[object, ...] = ()
    state: Mapping[str, object] | None = None
    trace: str = ""


Outcome = Replied | TooLarge | NotHere | Failed
