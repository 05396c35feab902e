"""Reading the files of ``--from``: each file's input is told from its content."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vlgate.errors import DataError
from vlgate.making.inputs.detect import FORMS, Content, content_of
from vlgate.making.inputs.images import ImageFolder
from vlgate.making.inputs.screen import screened
from vlgate.making.kinds.kind import InputName
from vlgate.perturb.scene_graph import SceneGraph
from vlgate.sources.scene_graphs.checks import Mode

_WITH: Mapping[Content, InputName] = MappingProxyType({"space": "frames", "list": "interactions"})
"""The files of words, and the input that each goes with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """The inputs of some files, all of one name, and what was left out of them by reason.

    ``images`` is how many images the inputs have, ``found`` how many of these are in a folder; None if none is named.
    """

    name: InputName
    inputs: Sequence[Any]
    left_out: Counter[str] = field(default_factory=Counter)
    images: int = 0
    found: int | None = None


def read_inputs(
    files: Sequence[Path], takes: Sequence[InputName], *, faults: Mode = "fail", images: ImageFolder | None = None
) -> Read:
    """Read files that hold one of the inputs that a kind takes.

    ``faults`` says whether a fault in a scene graph is an error, or the faulty part is left out and counted. A graph
    without the size of its image takes it from the file in ``images``.

    Returns: the inputs in the order of the files. A graph whose id an earlier file has is left out, and so are texts
        that no kind can use.
    Raises: DataError, which names the file, the record and the remedy, if a file cannot be read, holds another input,
    or holds an input other than an earlier file's; OptionError if ``images`` has no image of the inputs.
    """
    contents = {file: content_of(file) for file in files}
    name = _name(contents, takes)
    left_out: Counter[str] = Counter()
    inputs = _inputs(name, contents, faults, left_out)
    if name == "graphs" and images is not None:
        inputs = [_sized(graph, images) for graph in inputs]
    kept = screened(inputs, left_out)
    named = dict.fromkeys(one.id if isinstance(one, SceneGraph) else one.image for one in kept)
    found = None if images is None else images.found(named)
    return Read(name=name, inputs=kept, left_out=left_out, images=len(named), found=found)


def _sized(graph: SceneGraph, images: ImageFolder) -> SceneGraph:
    size = images.size(graph.id) if graph.width is None else None
    return graph if size is None else replace(graph, width=size[0], height=size[1])


def _inputs(name: InputName, contents: dict[Path, Content], faults: Mode, left_out: Counter[str]) -> Sequence[Any]:
    main = [file for file, content in contents.items() if content == name]
    if name == "graphs":
        return list(_unique(main, faults, left_out))
    lines = [_is_lines(file) for file in main]
    if name == "captions":
        from vlgate.making.inputs.captions import read_captions

        return read_captions(main, lines)
    if name == "answers":
        from vlgate.making.inputs.answers import read_answers

        return read_answers(main, lines)
    if name == "dialogs":
        from vlgate.making.inputs.dialogs import read_dialogs

        return read_dialogs(main, lines)
    if name == "interactions":
        from vlgate.making.inputs.interactions import read_interactions

        return read_interactions(main, _beside(name, contents), faults=faults, left_out=left_out)
    from vlgate.making.inputs.frames import read_frames

    return read_frames(main, lines, _beside(name, contents))


def _beside(name: InputName, contents: dict[Path, Content]) -> list[Path]:
    """The files of words that go with an input."""
    return [file for file, content in contents.items() if _WITH.get(content) == name]


def _name(contents: dict[Path, Content], takes: Sequence[InputName]) -> InputName:
    name: InputName | None = None
    for file, content in contents.items():
        if _WITH.get(content) in takes:
            continue
        if content not in takes:
            raise DataError(
                file, None, f"holds {content}", f"this kind takes {' or '.join(takes)}: name a file of {FORMS}"
            )
        if name is not None and content != name:
            raise DataError(file, None, f"holds {content}, an earlier file {name}", "name files of one input")
        name = content  # type: ignore[assignment]  # files of words are not among what a kind takes
    if name is None:
        file, content = next(iter(contents.items()))
        added = "a file of role frames" if content == "space" else "a file of HAKE's interactions"
        raise DataError(file, None, "has the verbs and nouns only", f"add {added}")
    return name


def _is_lines(file: Path) -> bool:
    """Whether the first line that is not blank is a JSON value of its own, and not a whole file's."""
    with file.open(encoding="utf-8-sig", errors="replace") as stream:
        first = next((line for line in stream if line.strip()), "")
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return type(value) is dict and "image" in value


def _unique(files: Sequence[Path], faults: Mode, left_out: Counter[str]) -> Iterator[Any]:
    from vlgate.sources.scene_graphs.files import read_graphs

    seen: set[str] = set()
    for file in files:
        for graph in read_graphs(file, faults=faults, left_out=left_out):
            if graph.id in seen:
                left_out["graph of an image that an earlier file has"] += 1
            else:
                seen.add(graph.id)
                yield graph
