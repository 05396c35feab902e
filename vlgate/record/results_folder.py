"""Take the results folder when a run starts: refuse to lose files, and remove those of an earlier run."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from vlgate.errors import OptionError
from vlgate.models.checkpoints.fingerprint import path_named
from vlgate.record.folder import ANALYSES, CASES, CONTROLS, ENVIRONMENT, METRICS, PART, REPLIES, SHRUNK, VERDICT
from vlgate.record.options import Options
from vlgate.record.whole_file import lock, remove_left_over

# The folder of the explanations; apart from what writes them, because every start of pytest needs it
FOLDER = "explanations"
INDEX = "index.json"

_READ_AGAIN = (METRICS, VERDICT, CASES, ENVIRONMENT, ANALYSES, CONTROLS, SHRUNK, PART, REPLIES)
NAMES = (*_READ_AGAIN, "report.html", "predictions.parquet", "summary.md", "shrunk.html", "badge.json")
"""The files that a run writes into its folder."""
_REPLAY = "replay:"


def take_folder(options: Options) -> Callable[[], None]:
    folder = options.results
    if options.model.startswith(_REPLAY):
        replies = path_named(options.model.removeprefix(_REPLAY), options.folder)
        if replies is not None and any(_same(replies, folder / name) for name in NAMES):
            raise OptionError(
                f"--results {folder}: the run would replace the replies of --model {options.model}, which lie in this "
                "folder; name another folder"
            )
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

    def leave() -> None:
        release()
        with suppress(OSError):  # a folder holds files, or is gone
            for one in made:
                one.rmdir()

    return leave


def nothing_run(options: Options) -> list[str]:
    file = options.results / "metrics.json"
    lines = [f"nothing was run: {file} holds the figures of an earlier run"] if file.is_file() else []
    if options.require_gates:
        lines.append("nothing was run: no gate was judged; add --no-require-gates if the list of tests is enough")
    return lines


def _empty(folder: Path, *, overwrite: bool) -> None:
    # A file of an earlier run must not remain: it would pass for this run's if this one crashes
    explanations = folder / FOLDER
    earlier = [name for name in (*NAMES, f"{FOLDER}/{INDEX}") if (folder / name).exists()]
    if earlier and not overwrite:
        raise OptionError(
            f"--results {folder}: holds {earlier[0]} of an earlier run; replace its files with --overwrite, or name "
            "another folder"
        )
    for name in NAMES:
        (folder / name).unlink(missing_ok=True)
    for place in (folder, explanations):
        remove_left_over(place, locked=True)
    (explanations / INDEX).unlink(missing_ok=True)
    for file in explanations.glob("[0-9]*-*.png"):  # other files of that folder stay
        file.unlink()
    if explanations.is_dir() and not any(explanations.iterdir()):
        explanations.rmdir()


def _same(file: Path, other: Path) -> bool:
    try:
        return file.samefile(other)
    except OSError:  # one of them does not exist
        return False
