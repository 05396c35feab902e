"""``vlgate show`` in a terminal: a pseudo-terminal that answers as one that can show images, and one that cannot."""

import fcntl
import importlib.util
import os
import pty
import re
import select
import struct
import sys
import termios
import time
from pathlib import Path

import pytest

CASE = "scenes/relations:000"
NEEDED = importlib.util.find_spec("textual_image") is not None


def session(folder, *, answers):
    """What the command prints on a terminal, which answers the question for kitty's protocol or stays silent."""
    command = [sys.executable, "-m", "vlgate", "show", str(folder), CASE]
    child, terminal = pty.fork()
    if child == 0:
        os.execvpe(command[0], command, {**os.environ, "TERM": "xterm-kitty", "COLUMNS": "100"})
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 1000, 800))
    seen, asked, end = b"", 0, time.monotonic() + 120
    while time.monotonic() < end:
        ready, _, _ = select.select([terminal], [], [], 1)
        try:
            seen += os.read(terminal, 65536) if ready else b""
        except OSError:  # the command has ended
            break
        queries = re.findall(rb"\x1b_G[^;]*i=(\d+)[^;]*a=q[^;]*;|\x1b_G[^;]*a=q[^;]*i=(\d+)[^;]*;", seen)
        if answers and len(queries) > asked:
            number = b"".join(queries[asked])
            os.write(terminal, b"\x1b_Gi=" + number + b";OK\x1b\\")
            asked = len(queries)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, seen
    return seen.decode(errors="replace")


@pytest.mark.slow
@pytest.mark.skipif(not NEEDED, reason="textual-image is not installed; it comes with the extra terminal")
def test_an_image_is_drawn_in_a_terminal_that_can(folder):
    seen = session(folder, answers=True)
    assert "\U0010eeee" in seen  # what kitty's protocol puts the pixels of an image in place of
    assert ".png" not in seen


@pytest.mark.slow
def test_an_image_is_a_file_in_a_terminal_that_cannot(folder):
    seen = session(folder, answers=False)
    [file] = re.findall(r"image \S+: (/\S+\.png)", seen)
    assert Path(file).stat().st_size > 0
    assert "\x1b[1;4m" in seen
