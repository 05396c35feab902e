"""The process that watches the calls of a model: it says which call takes too long, although the model's process hangs.

It runs beside the model's process, because a call that hangs in C code may hold Python's global lock, and then no
thread of that process can say anything. It imports nothing of vlgate, so that it starts quickly.

Standard input: one JSON object per line, ``{"limit": seconds, "what": text, "says": text}`` as a call starts, ``{}`` as
it returns. The end of the input is the end of the model's process.
"""

import json
import os
import signal
import sys
import threading
from pathlib import Path
from queue import Empty, Queue
from typing import Any

LATE = 0.5  # seconds after the limit until the guard speaks: a call that returns in time is never called late
LAST = 5.0  # seconds after that until the guard kills a process that should have ended by itself


def main(note: str) -> None:
    """Watch until the input ends; ``note`` is a file that gets ``what`` of a late call, or empty."""
    heard: Queue[dict[str, Any] | None] = Queue()
    threading.Thread(target=_listen, args=(heard,), daemon=True).start()
    parent = os.getppid()
    call = heard.get()
    while call is not None:
        try:
            call = heard.get(timeout=call["limit"] + LATE if call else None)
        except Empty:
            if call and heard.empty():
                if note:
                    part = Path(f"{note}.part")
                    part.write_text(call["what"], encoding="utf-8")
                    part.replace(note)
                sys.stderr.write(f"\n{call['says']}\n")
                sys.stderr.flush()
                call = _after(heard, parent)


def _listen(heard: Queue[dict[str, Any] | None]) -> None:
    for line in sys.stdin:
        heard.put(json.loads(line))
    heard.put(None)


def _after(heard: Queue[dict[str, Any] | None], parent: int) -> dict[str, Any] | None:
    """What is heard next; the model's process is killed if it neither ends nor goes on."""
    try:
        return heard.get(timeout=LAST)
    except Empty:
        if os.getppid() == parent:
            os.kill(parent, getattr(signal, "SIGKILL", signal.SIGTERM))
        return None


if __name__ == "__main__":
    main(sys.argv[1])
