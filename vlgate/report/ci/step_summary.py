"""``summary.md`` on the page of a job of GitHub Actions, through the file that ``GITHUB_STEP_SUMMARY`` names."""

from __future__ import annotations

from pathlib import Path

MOST = 1024 * 1024
"""The bytes that GitHub takes from one step; it shows nothing of a longer file."""
_CUT = "\n\n(cut, because GitHub shows at most 1 MiB; summary.md of the results folder has the rest)\n"


def append_summary(summary: Path, place: str) -> str:
    """Append a summary to the file of a job.

    Args:
        summary: ``summary.md`` of a run.
        place: the file to append to; nothing is done if this is empty.

    Returns: why the summary is not there, or not all of it; empty if it is.
    """
    if not place:
        return ""
    try:
        text = summary.read_bytes()
        room = MOST - (Path(place).stat().st_size if Path(place).exists() else 0)
        shown = text if len(text) < room else _cut(text, room)
        with Path(place).open("ab") as file:
            file.write(shown)
    except OSError as error:
        return f"GITHUB_STEP_SUMMARY: the summary could not be written ({error.strerror})"
    return "" if shown == text else "GITHUB_STEP_SUMMARY: the summary was cut, because GitHub shows at most 1 MiB"


def _cut(text: bytes, room: int) -> bytes:
    """The first whole lines of a text that there is room for, and a note; nothing if there is no room for that."""
    note = _CUT.encode()
    if room <= len(note):
        return b""
    head = text[: room - len(note)]
    return head[: head.rfind(b"\n") + 1] + note
