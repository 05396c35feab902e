"""Whether the date of a file's last change can be trusted, so that its content need not be read again to know it."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

DATED = frozenset(
    (
        *("ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "bcachefs", "jfs", "tmpfs", "ramfs", "overlay"),
        *("nfs", "nfs4", "ceph", "lustre", "gpfs", "beegfs"),
    )
)
"""The file systems of Linux whose ctime is set by every change, and by no program.

FAT and exFAT keep no such time, a server of CIFS or 9p may not either, and those in user space (sshfs) often give mtime
in its place, which ``touch -r``, ``cp -p`` and ``rsync --times`` set.
"""
_MOUNTS = "/proc/self/mountinfo"
_OCTAL = re.compile(r"\\([0-7]{3})")


def is_dated(path: str) -> bool:
    """Return whether every change of a file shows in its ctime (``os.stat_result.st_ctime_ns``).

    On Windows it is the time of the file's creation. On macOS, other disks than the system's may be in any format.

    >>> is_dated("C:/photos/1.png") if os.name == "nt" else False
    False
    """
    real = os.path.realpath(path)
    if sys.platform == "darwin":
        return not real.startswith("/Volumes/")
    return sys.platform == "linux" and _file_system(real) in DATED


def _file_system(path: str) -> str:
    """The type of the file system that holds a path without links; empty if the system does not tell."""
    try:
        lines = Path(_MOUNTS).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    kinds: dict[str, str] = {}
    for line in lines:  # a later mount at the same point hides an earlier one; see proc(5)
        mount, _, source = line.partition(" - ")
        point = _OCTAL.sub(lambda match: chr(int(match[1], 8)), mount.split(" ")[4])
        kinds[point.rstrip("/")] = source.partition(" ")[0]
    folder = path
    while folder.strip("/") and folder not in kinds:
        folder = folder.rpartition("/")[0]
    return kinds.get(folder.rstrip("/"), "")
