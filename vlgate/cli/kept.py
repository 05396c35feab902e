"""Keep the cases that a search for smallest changes has broken, as own cases that every later release must hold.

Each find of `pytest -m shrink` becomes a line of own cases, with its changed images and texts: the model that broke
fails them, and a model that is right passes them. The images go to the folder kept-images beside the file, and
must-hold.jsonl names all kept cases, for must_hold in thresholds.toml. Cases that the file has already stay as they
are, and are not written twice.
"""

import json
import shutil
import tempfile
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

from vlgate.cli import say
from vlgate.errors import DataError, OptionError
from vlgate.probes.shrink.record import NotKeptError, own_case, own_id
from vlgate.record.folder import SHRUNK
from vlgate.record.whole_file import whole_file, write_whole
from vlgate.report.shrunk import SHRUNK_FOLDER
from vlgate.sources.own.cases import read
from vlgate.sources.reading.source import ReadOptions

HELD = "must-hold.jsonl"
_FIELDS = ("task", "case", "shape", "capability", "requests", "cause")


def keep(folder_of_run: Path, out: Path) -> int:
    folder = _data_folder(out)
    finds = _lines(folder_of_run / SHRUNK, f"run pytest -m shrink --results={folder_of_run} first", _FIELDS)
    if not finds:
        say(f"{folder_of_run / SHRUNK}: has no find, so that there is nothing to keep")
        return 0
    before = _lines(out, "name another file with --out", ("task",)) if out.exists() else []
    held = _lines(folder / HELD, "repair or remove it", ("task", "case")) if (folder / HELD).exists() else []
    known = {(line["task"], str(line.get("id"))) for line in before}
    new: dict[tuple[str, str], dict[str, Any]] = {}
    lost: Counter[str] = Counter()
    for find in finds:
        try:
            line = own_case(find, lambda name: _kept_image(folder_of_run, name, folder))
            _hold_readable(line)
        except NotKeptError as error:
            lost[str(error)] += 1
            continue
        except (KeyError, TypeError, ValueError, AttributeError):
            what = f"{folder_of_run / SHRUNK}: the find {find['task']}:{find['case']} is damaged"
            raise OptionError(f"{what}; make the run again") from None
        line = {"task": line.pop("task"), "id": own_id(find, line), **line}
        if (line["task"], line["id"]) not in known:
            new[line["task"], line["id"]] = line
    _append(out, list(new.values()))
    named = {(line["task"], line["case"]) for line in held}
    _append(folder / HELD, [{"task": task, "case": case} for task, case in new if (task, case) not in named])
    kept = len(finds) - sum(lost.values())
    if before or new:
        known_before = f"{kept - len(new):,} finds were there already"
        say(f"{out}: {len(before) + len(new):,} cases, {len(new):,} of them new; {known_before}")
    for why, number in lost.items():
        say(f"{number:,} finds are not kept: {why}")
    if before or new:
        say(f'hold them with must_hold = "{folder / HELD}" in [defaults] of thresholds.toml, and --data={folder}')
    if not kept:
        raise OptionError(f"{folder_of_run / SHRUNK}: no find can be kept; name the whole folder of the run")
    return 0


def _hold_readable(line: dict[str, Any]) -> None:
    # Raise NotKeptError if own cases would refuse a line
    with tempfile.TemporaryDirectory() as place:
        Path(place, "cases.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
        try:
            list(read(ReadOptions(folders=(Path(place),), seed=0, wanted=lambda _: True)))
        except DataError as error:
            why = str(error).partition("record on line 1: ")[2] or str(error)
            raise NotKeptError(f"own cases refuse such a line: {why}") from None


def _data_folder(out: Path) -> Path:
    if out.name == "cases.jsonl":
        return out.parent
    if out.parent.name == "cases" and out.suffix == ".jsonl":
        return out.parent.parent
    raise OptionError(
        f"--out {out}: expected cases.jsonl, or cases/NAME.jsonl, in a data folder; finds are kept as JSON lines"
    )


def _lines(file: Path, remedy: str, fields: tuple[str, ...]) -> list[dict[str, Any]]:
    try:
        lines = file.read_text(encoding="utf-8").split("\n")
    except FileNotFoundError:
        raise OptionError(f"{file}: is not there; {remedy}") from None
    except UnicodeDecodeError as error:
        raise OptionError(f"{file}: is not UTF-8 ({error}); {remedy}") from None
    found: list[dict[str, Any]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            raise OptionError(f"{file}, record on line {number}: is not JSON; {remedy}") from None
        lacking = [name for name in fields if not isinstance(record, dict) or name not in record]
        if lacking:
            raise OptionError(f"{file}, record on line {number}: lacks {', '.join(lacking)}; {remedy}")
        found.append(record)
    return found


def _kept_image(run: Path, name: str, folder: Path) -> str:
    # Copy an image of a run to the data folder, unless it is there; return its name in that folder
    from PIL import Image

    file = run / SHRUNK_FOLDER / Path(name).name
    if not file.is_file() or file.is_symlink() or file.parent.is_symlink():
        raise NotKeptError(f"an image of the find is not in {run / SHRUNK_FOLDER}")
    try:
        with Image.open(file) as image:
            image.verify()
    except (OSError, ValueError, SyntaxError):
        raise NotKeptError(f"an image of the find in {run / SHRUNK_FOLDER} cannot be read") from None
    kept = f"kept-images/{sha256(file.read_bytes()).hexdigest()[:24]}.png"
    place = folder / kept
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(place) as part:
            shutil.copyfile(file, part)
    return kept


def _append(file: Path, lines: list[dict[str, Any]]) -> None:
    # Add lines to a file; those that it has stay as they are
    if not lines:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    if before and not before.endswith("\n"):
        before += "\n"
    write_whole(file, before + "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines))
