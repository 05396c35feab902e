"""Reads the files of ``--from``: each file's input is told from its content; images are found in their folder."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from io import BytesIO
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import ijson

from vlgate.errors import DataError, OptionError, no_folder
from vlgate.images.files import image_size, plain_path
from vlgate.making.inputs import records
from vlgate.making.inputs.frames import LINE
from vlgate.making.kinds.kind import KINDS, InputName, kind
from vlgate.making.sets.folder import distinct_names
from vlgate.perturb.scene_graph import SceneGraph
from vlgate.sources.graphs.checks import Mode
from vlgate.sources.reading.image_finder import is_plain, stem
from vlgate.sources.reading.text_files import collector_paused

Content = InputName | Literal["space", "list"]
"""An input, imSitu's file of verbs and nouns, which goes with role frames, or HICO's list, with interactions."""

FORMS = (
    'captions (COCO\'s, or lines of {"image", "caption"}), answered questions (Visual7W\'s, or lines of {"image", '
    '"question", "answer"}), dialogs (VisDial\'s, or lines of {"image", "caption", "dialog"}), role frames (SWiG\'s, '
    'or lines of {"image", "verb", "roles"}), interactions (HAKE\'s) or scene graphs'
)
_HEAD = 2**20  # bytes at the beginning that are looked at
_NAMED = 5  # the most fields of an unknown form that are named
_REMEDY = f"name a file of {FORMS}"
_LINE = 'lines such as {"image": "1.jpg", "caption": "a dog left of a cat"}'
_TEXTS = frozenset((".json", ".jsonl", ".csv", ".tsv"))
_PACKED = (b"\x1f\x8b", b"PK\x03\x04", b"BZh", b"\xfd7zXZ")  # gzip, zip, bzip2, xz
_LIST = re.compile(rf"\A(?:[^\d\n]*\n)*{LINE.pattern}$".encode(), re.MULTILINE)
_BESIDE_IMAGES = {"file_name", "coco_url", "license"}


def content_of(file: Path) -> Content:
    head = _head(file)
    keys, broken, is_list = defaultdict[int, set[str]](set), "", head.lstrip().startswith(b"[")
    if records.is_table(file, head.decode("utf-8", "replace")) and not head.startswith(_PACKED):
        keys[1] = {name for row in islice(records.table_rows(file), 1) for name in row.fields}
        if not keys[1]:
            raise DataError(file, None, "has columns, but no row", "write one caption or question a line")
    else:
        keys, broken = _keys(head)
    first, below, third = (keys[depth + is_list] for depth in (1, 2, 3))
    tests: tuple[tuple[Content, bool], ...] = (
        ("dialogs", {"image", "caption", "dialog"} <= first or bool({"dialogs", "questions", "answers"} & below)),
        ("captions", {"image", "caption"} <= first),
        ("answers", {"image", "question"} <= first or ("images" in first and "qa_pairs" in third)),
        ("frames", {"image", "verb", "roles"} <= first or {"verb", "frames"} <= below),
        ("space", {"nouns", "verbs"} & first != set() and bool({"gloss", "abstract", "roles"} & third)),
        ("interactions", "hoi_id" in below or {"labels", "dataset"} <= below),
        ("graphs", bool({"objects", "graphs"} & first) or "objects" in below),
        ("captions", "annotations" in first or ("images" in first and bool(_BESIDE_IMAGES & third))),
        ("list", _LIST.search(head) is not None),
    )
    content = next((content for content, holds in tests if holds), None)
    if content is not None:
        return content
    if head.startswith(_PACKED):
        raise DataError(file, None, "is compressed, or a spreadsheet", "unpack it, or save it as CSV in UTF-8")
    if image_size(file) is not None:
        raise DataError(file, None, "is an image", f"name a file with {_LINE}")
    if broken:
        raise DataError(file, None, f"is not JSON or lines of JSON ({broken})", _REMEDY)
    fields = sorted(first or below)
    held = f"has {', '.join(map(repr, fields[:_NAMED]))}{', ...' * (len(fields) > _NAMED)}, " if fields else "has "
    remedy = f"{records.NAMES}, one a line (vlgate make --list has other inputs)"
    raise DataError(file, None, f"{held}none of the known forms of input", remedy if fields else _REMEDY)


def _head(file: Path) -> bytes:
    try:
        if file.exists() and not file.is_file() and not file.is_dir():  # reading a pipe would block for ever
            raise DataError(file, None, "is not a regular file", "put a file in its place")
        if file.is_dir():
            inside = next((one for one in sorted(file.iterdir()) if one.suffix.lower() in _TEXTS), None)
            remedy = f"write one with {_LINE}" if inside is None else f"name one in it, such as {inside}"
            raise DataError(file, None, "is a folder, expected a file of texts about images", remedy)
        with file.open("rb") as stream:
            head = stream.read(_HEAD)
    except FileNotFoundError:
        raise DataError(file, None, "there is no such file", "check the path") from None
    except OSError as error:
        raise DataError(file, None, f"cannot be read ({error.strerror})", "make it a readable file") from None
    head = head.removeprefix(b"\xef\xbb\xbf")
    if not head.strip():
        raise DataError(file, None, "is empty", _REMEDY)
    return head


def _keys(head: bytes) -> tuple[defaultdict[int, set[str]], str]:
    keys: defaultdict[int, set[str]] = defaultdict(set)
    depth, steps = 0, {"start_map": 1, "start_array": 1, "end_map": -1, "end_array": -1}
    try:
        for event, value in ijson.basic_parse(BytesIO(head), use_float=True, multiple_values=True):
            if event == "map_key":
                keys[depth].add(value)
            elif event in steps:
                depth += steps[event]
    except (ijson.JSONError, UnicodeDecodeError) as error:  # a file that is cut gives the keys before the cut
        return keys, " ".join(str(error).split())[:100]
    return keys, ""


class ImageFolder:
    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise OptionError(f"--images: {no_folder(folder)}; name the folder of the images")
        self._folder = folder

    def name(self, image: str) -> str:
        """Return the path in the folder of an image with a name; the name itself if there is none."""
        plain = plain_path(image)
        if is_plain(plain) and (self._folder / plain).is_file():
            return plain
        return self._by_stem.get(stem(plain), image)

    def has(self, image: str) -> bool:
        return is_plain(plain_path(image)) and (self._folder / self.name(image)).is_file()

    def found(self, images: Collection[str]) -> int:
        number = sum(self.has(image) for image in images)
        if images and not number:
            example = next(iter(images))
            none = f"has none of the {len(images):,} images of the inputs (looked for {example} and {stem(example)}.*"
            raise OptionError(f"--images {self._folder}: {none} in it); name the folder that holds them")
        return number

    def sized(self, graph: SceneGraph) -> SceneGraph:
        if graph.width is not None or not self.has(graph.id):
            return graph
        size = image_size(str(self._folder / self.name(graph.id)))
        return graph if size is None else replace(graph, width=size[0], height=size[1])

    @cached_property
    def _by_stem(self) -> dict[str, str]:
        return {stem(file.name): file.name for file in sorted(self._folder.iterdir())}


_WITH: Mapping[Content, InputName] = MappingProxyType({"space": "frames", "list": "interactions"})
"""The files of words, and the input that each goes with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """The inputs of some files, all of one name, how many images they have, and how many of these a folder has."""

    name: InputName
    inputs: Sequence[Any]
    left_out: Counter[str] = field(default_factory=Counter)
    images: int = 0
    found: int | None = None
    given: int = 0  # how many inputs the files hold, with those that are left out


def read_inputs(
    files: Sequence[Path], takes: Sequence[InputName], *, faults: Mode = "fail", images: ImageFolder | None = None
) -> Read:
    contents = {file: content_of(file) for file in files}
    name = _name(contents, takes)
    left_out: Counter[str] = Counter()
    lost: Counter[Path] = Counter()
    inputs = _inputs(name, contents, faults, left_out, lost)
    if name == "graphs" and images is not None:
        inputs = [images.sized(graph) for graph in inputs]
    given = len(inputs) + lost.total()
    kept = records.screened(inputs, left_out)
    named = dict.fromkeys(one.id if isinstance(one, SceneGraph) else one.image for one in kept)
    found = None if images is None else images.found(named)
    return Read(name=name, inputs=kept, left_out=+left_out, images=len(named), found=found, given=given)


def _inputs(
    name: InputName, contents: dict[Path, Content], faults: Mode, left_out: Counter[str], lost: Counter[Path]
) -> Sequence[Any]:
    main = [file for file, content in contents.items() if content == name]
    if name == "graphs":
        return list(distinct_graphs(main, faults, left_out, lost))
    beside = [file for file, content in contents.items() if _WITH.get(content) == name]
    with collector_paused():
        read, names = _reader(name, beside, faults, left_out, lost), distinct_names(main)
        inputs = [
            one if names[file] == file.name else replace(one, origin=names[file] + one.origin.removeprefix(file.name))
            for file in main
            for one in read(file)
        ]
        return records.with_others(inputs) if name == "captions" else inputs


def _reader(
    name: InputName, beside: Sequence[Path], faults: Mode, left_out: Counter[str], lost: Counter[Path]
) -> Callable[[Path], Iterable[Any]]:
    from vlgate.making.inputs import frames

    if name == "interactions":
        return frames.interactions_reader(beside, faults, left_out, lost)
    if name == "frames":
        return frames.frames_reader(beside, _is_lines)
    released, lined = {
        "captions": (records.coco, records.lined_captions),
        "answers": (records.visual7w, records.lined_answers),
        "dialogs": (records.visdial, records.lined_dialogs),
    }[name]
    return lambda file: (lined if _is_lines(file) else released)(file)


def _name(contents: dict[Path, Content], takes: Sequence[InputName]) -> InputName:
    name: InputName | None = None
    for file, content in contents.items():
        if _WITH.get(content) in takes:
            continue
        if content not in takes:
            raise _another(file, content, takes)
        if name is not None and content != name:
            raise DataError(file, None, f"holds {content}, an earlier file {name}", "name files of one input")
        name = content  # type: ignore[assignment]  # files of words are not among what a kind takes
    if name is None:
        file, content = next(iter(contents.items()))
        added = "a file of role frames" if content == "space" else "a file of HAKE's interactions"
        raise DataError(file, None, "has the verbs and nouns only", f"add {added}")
    return name


def contents(files: Sequence[Path]) -> dict[Path, Content]:
    """Return what files hold, without those of which their readers say what is wrong."""
    held: dict[Path, Content] = {}
    for file in files:
        with suppress(DataError):
            held[file] = content_of(file)
    return held


def refuse_others(files: Sequence[Path], takes: Sequence[InputName]) -> None:
    for file, content in contents(files).items():
        if content not in takes:
            raise _another(file, content, takes)


def _another(file: Path, content: Content, takes: Sequence[InputName]) -> DataError:
    others = [other for other in KINDS if content in kind(other).takes]
    more = f"; {content} make {', '.join(others)}" if others else f": name a file of {FORMS}"
    return DataError(file, None, f"holds {content}", f"this kind takes {' or '.join(takes)}{more}")


def _is_lines(file: Path) -> bool:
    """Whether the file is a table or a list, or its first line a JSON value of its own, and not a whole file's."""
    with file.open(encoding="utf-8-sig", errors="replace") as stream:
        first = next((line for line in stream if line.strip()), "")
    if records.is_table(file, first) or first.lstrip().startswith("["):
        return True
    with suppress(ValueError, RecursionError):
        value = json.loads(first)
        return type(value) is dict and "image" in value
    return False


def distinct_graphs(
    files: Sequence[Path], faults: Mode, left_out: Counter[str], lost: Counter[Path], without: Collection[str] = ()
) -> Iterator[SceneGraph]:
    from vlgate.sources.graphs.files import read_graphs

    seen: set[str] = set()
    for file in files:
        for graph in read_graphs(file, faults=faults, left_out=left_out, lost=lost):
            if graph.id in without:
                left_out["graph of an image that --without names"] += 1
            elif graph.id in seen:
                left_out["graph of an image that an earlier file has"] += 1
                lost[file] += 1
            else:
                seen.add(graph.id)
                yield graph
