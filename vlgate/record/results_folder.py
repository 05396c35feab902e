"""Take the results folder when a run starts: refuse to lose files, and remove those of an earlier run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from vlgate.errors import OptionError
from vlgate.record.folder import PART, REPLIES
from vlgate.record.options import Options
from vlgate.record.whole_file import lock, remove_left_over

# Where the explanations of a run are. It is apart from what writes them, because every start of pytest needs it.

FOLDER = "explanations"
INDEX = "index.json"


def remove_explanations(folder: Path) -> None:
    """Remove the explanations of an earlier run; other files of that folder stay."""
    place = folder / FOLDER
    (place / INDEX).unlink(missing_ok=True)
    for file in place.glob("[0-9]*-*.png"):
        file.unlink()
    if place.is_dir() and not any(place.iterdir()):
        place.rmdir()


# Take the results folder when a run starts: refuse to lose files, and remove those of an earlier run on request.

NAMES = (
    "metrics.json",
    "verdict.json",
    "report.html",
    "cases.parquet",
    "predictions.parquet",
    "summary.md",
    "environment.json",
    "shrunk.jsonl",
    "shrunk.html",
    "badge.json",
    "analyses.json",
    "controls.json",
    PART,
    REPLIES,
)
"""The files that a run writes into its folder."""
_REPLAY = "replay:"


def take_folder(options: Options) -> Callable[[], None]:
    """Make and lock the results folder, and remove the files of an earlier run; return what releases it."""
    # A file of an earlier run must not remain: it would pass for this run's if this one crashes
    folder = options.results
    _refuse_own_replies(options)
    try:
        made = [one for one in (folder, *folder.parents) if not one.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        release = lock(folder)
        try:
            _empty(folder, overwrite=options.overwrite)
        except BaseException:
            release()
            raise
    except OSError as error:
        raise OptionError(f"--results {folder}: cannot be written ({error.strerror}); name another folder") from None
    return lambda: _leave(release, made)


def _leave(release: Callable[[], None], made: Sequence[Path]) -> None:
    release()
    with suppress(OSError):  # a folder holds files, or is gone
        for one in made:
            one.rmdir()


def nothing_run(options: Options) -> list[str]:
    """Return the lines for ``--collect-only``: no gate was judged, and figures in the folder are of an earlier run."""
    file = options.results / "metrics.json"
    lines = [f"nothing was run: {file} holds the figures of an earlier run"] if file.is_file() else []
    if options.require_gates:
        lines.append("nothing was run: no gate was judged; add --no-require-gates if the list of tests is enough")
    return lines


def _empty(folder: Path, *, overwrite: bool) -> None:
    earlier = [name for name in (*NAMES, f"{FOLDER}/{INDEX}") if (folder / name).exists()]
    if earlier and not overwrite:
        raise OptionError(
            f"--results {folder}: holds {earlier[0]} of an earlier run; replace its files with --overwrite, or name "
            "another folder"
        )
    for name in NAMES:
        (folder / name).unlink(missing_ok=True)
    for place in (folder, folder / FOLDER):
        remove_left_over(place, locked=True)
    remove_explanations(folder)


def _refuse_own_replies(options: Options) -> None:
    if not options.model.startswith(_REPLAY):
        return
    replies = options.folder / Path(options.model.removeprefix(_REPLAY)).expanduser()
    if any(_same(replies, options.results / name) for name in NAMES):
        raise OptionError(
            f"--results {options.results}: the run would replace the replies of --model {options.model}, which lie in "
            "this folder; name another folder"
        )


def _same(file: Path, other: Path) -> bool:
    try:
        return file.samefile(other)
    except OSError:  # one of them does not exist
        return False
