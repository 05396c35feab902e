"""The folder of a set: who may write into it, and its files, in our own shape or in VALSE's."""

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import file_digest
from itertools import chain
from pathlib import Path
from typing import Any

from vlgate.errors import OptionError
from vlgate.making.kinds.kind import Item, Release
from vlgate.perturb.foils.candidates import Foil, SentenceSet
from vlgate.record.whole_file import lock, write_whole
from vlgate.sources.reading.image_finder import is_plain

# The files of a set: cases in our own shape, which ``sources/own/cases.py`` reads, and their reasons.

WHY = "why.jsonl"
"""The file with the origin, the classes and the reason of each case."""


def as_cases(items: Sequence[Item], name: str, named: Callable[[str], str] = str) -> dict[str, str]:
    lines = []
    for item in items:
        made = item.candidate
        fields: Mapping[str, Any]
        if isinstance(made, Foil):
            fields = {"image": named(item.image), "caption": made.caption, "foil": made.foil}
        elif isinstance(made, SentenceSet):
            fields = {"image": named(item.image), "true": made.true, "false": made.false}
        else:
            fields = {"images": [named(image) for image in made.images], "captions": made.captions}
        row = {"task": f"made/{name}", "id": item.id, **fields, **({"tags": dict(made.tags)} if made.tags else {})}
        lines.append(f"{json.dumps(row, ensure_ascii=False)}\n")
    return {f"cases/{name}.jsonl": "".join(lines)}


def as_reasons(items: Sequence[Item]) -> str:
    lines = []
    for item in items:
        row = {"id": item.id, "image": item.image, "origin": item.origin, "why": item.candidate.why}
        more = {"classes": item.candidate.classes} if isinstance(item.candidate, Foil) else {}
        lines.append(f"{json.dumps({**row, **more}, ensure_ascii=False)}\n")
    return "".join(lines)


# VALSE's format: an object of records by id in ``valse/data/<file>`` (https://github.com/Heidelberg-NLP/VALSE).

NO_VOTES = {"caption": 0, "foil": 0, "other": 0}
"""The votes of a record that nobody has judged. Its reader takes such records with the protocol ``valse_all``."""

METHODS = {"sg2pl": "checklist method, change NP to PL", "pl2sg": "checklist method, change NP to SG"}


def valse(file: str, phenomenon: str) -> Release:
    """Return what writes items as one of VALSE's files, such as ``plurals.json``."""

    def release(items: Sequence[Item]) -> Mapping[str, str]:
        records = {}
        for item in items:
            made = item.candidate
            if not isinstance(made, Foil):
                raise TypeError(f"item {item.id!r} has neither caption nor foil")
            record: dict[str, Any] = {
                "dataset": item.origin.partition(",")[0],
                "dataset_idx": item.origin.partition(", ")[2],
                "linguistic_phenomena": phenomenon,
                "image_file": item.image,
                "caption": made.caption,
                "classes": made.classes[0],
                "classes_foil": made.classes[1],
                "mturk": NO_VOTES,
                "foil": made.foil,
            }
            if made.tags.get("direction") in METHODS:
                record["foil_method"] = METHODS[made.tags["direction"]]
            if "provenance" in made.tags:
                record["provenance_of_foils"] = made.tags["provenance"]
            records[item.id] = record | dict(item.extra)
        return {f"valse/data/{file}": json.dumps(records, ensure_ascii=False, indent=1) + "\n"}

    return release


# The folder of a set: who may write into it, and the blocks of candidates that stay there until the set is whole.
# A run keeps each block of candidates in ``.making``, so that a run that is killed goes on with the next block. That
# folder is removed when all files of the set are there.

BIAS, PAGE = "bias.json", "bias.md"

_WORK = ".making"
_OPTIONS = "options.json"


class SetFolder:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.resumed = False
        self._work = folder / _WORK

    def open(self, options: Mapping[str, Any], *, overwrite: bool) -> None:
        content = json.dumps(options, sort_keys=True)
        with suppress(OSError, ValueError):
            self.resumed = (self._work / _OPTIONS).read_text(encoding="utf-8") == content
        if self.resumed:
            return
        if not overwrite:
            used = next((name for name in (BIAS, PAGE, WHY) if (self.folder / name).exists()), None)
            if used is not None:
                raise OptionError(f"--out {self.folder}: holds {used} of an earlier set; {_REMEDY}")
            if (self._work / _OPTIONS).exists():
                what = "an interrupted run with other options left its work here"
                raise OptionError(f"--out {self.folder}: {what}; {_REMEDY}")
        shutil.rmtree(self._work, ignore_errors=True)
        self._work.mkdir(exist_ok=True)
        write_whole(self._work / _OPTIONS, content)

    def discard(self) -> None:
        shutil.rmtree(self._work, ignore_errors=True)

    def close(self) -> None:
        if self._work.is_dir() and [path.name for path in self._work.iterdir()] == [_OPTIONS]:
            self.discard()

    def block(self, number: int) -> Any:
        try:
            return json.loads((self._work / f"{number:06d}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def keep(self, number: int, content: Any) -> None:
        write_whole(self._work / f"{number:06d}.json", json.dumps(content, ensure_ascii=False))

    def finish(self, files: Mapping[str, str], report: Mapping[str, str], *, overwrite: bool) -> None:
        """Write the report, then the files of the set, each whole; the blocks are removed after that."""
        # The files of an earlier set are removed first, so that the folder never holds cases of two sets.
        try:
            listed = json.loads((self.folder / BIAS).read_text(encoding="utf-8"))["files"]
        except (OSError, ValueError, KeyError, TypeError):
            listed = []
        names = listed if isinstance(listed, list) else []
        earlier = [name for name in names if isinstance(name, str) and is_plain(name)]
        foreign = next((name for name in files if (self.folder / name).exists() and name not in earlier), None)
        if foreign is not None and not overwrite:
            raise OptionError(f"--out {self.folder}: {foreign} is there already; {_REMEDY}")
        for name in earlier:
            (self.folder / name).unlink(missing_ok=True)
        for name, text in {**report, **files}.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            write_whole(self.folder / name, text)
        self.discard()


@contextmanager
def opened(folder: Path, options: Mapping[str, Any], *, overwrite: bool) -> Iterator[SetFolder]:
    try:
        made = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        release = lock(folder, "--out")
        work = SetFolder(folder)
        try:
            work.open(options, overwrite=overwrite)
            yield work
        finally:
            work.close()
            release()
            if made and not any(folder.iterdir()):
                folder.rmdir()
    except OSError as error:
        if str(folder) not in str(error.filename):
            raise
        why = error.strerror or str(error)
        raise OptionError(f"--out {folder}: cannot be written ({why}); name another folder") from None


def distinct_names(files: Iterable[Path]) -> dict[Path, str]:
    """Return the name of each file, after as many of its folders as tell it from the others."""
    paths = {file: file.absolute().parts for file in files}
    ends = {file: ["/".join(path[-length:]) for length in range(1, len(path))] for file, path in paths.items()}
    number = Counter(chain.from_iterable(ends.values()))
    return {file: next((end for end in names if number[end] == 1), file.name) for file, names in ends.items()}


def digests(files: Iterable[Path]) -> dict[str, str]:
    return {name: _digest(file) for file, name in distinct_names(files).items()}


def _digest(file: Path) -> str:
    if not file.is_file():  # reading a pipe would block for ever
        return ""
    try:
        with file.open("rb") as stream:
            return file_digest(stream, "sha256").hexdigest()[:16]
    except OSError:  # its reader says what is wrong
        return ""


_REMEDY = "replace it with --overwrite, or name another folder"
