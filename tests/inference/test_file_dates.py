"""Which file systems date every change of a file."""

import sys

import pytest

from vlgate.asking import image_identity
from vlgate.asking.image_identity import is_dated

MOUNTS = """\
20 1 8:1 / / rw - ext4 /dev/sda1 rw
21 20 0:30 / /mnt/a\\040stick rw - vfat /dev/sdb1 rw
22 20 0:31 / /home/me/far rw,relatime shared:1 - fuse.sshfs me@far: rw
23 20 0:32 / /home/me/far/near rw - nfs4 server:/x rw
24 20 0:33 / /mnt/c rw - 9p drvfs rw
25 20 0:34 / /mnt/share rw - cifs //server/share rw
26 20 0:35 /@home /srv rw - btrfs /dev/sdc1 rw
27 26 0:36 / /srv rw - exfat /dev/sdd1 rw
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's list of mounts")
@pytest.mark.parametrize(("path", "expected"), [
    ("/data/1.png", True), ("/mnt/a stick/1.png", False), ("/mnt/a sticker/1.png", True),
    ("/home/me/far/1.png", False), ("/home/me/far/near/deep/1.png", True), ("/home/me/further/1.png", True),
    ("/mnt/c/Users/1.png", False), ("/mnt/share/1.png", False), ("/srv/1.png", False),
])  # fmt: skip
def test_the_file_system_of_a_path(tmp_path, monkeypatch, path, expected):
    (tmp_path / "mountinfo").write_text(MOUNTS)
    monkeypatch.setattr(image_identity, "_MOUNTS", str(tmp_path / "mountinfo"))
    assert is_dated(path) == expected


@pytest.mark.parametrize(
    ("platform", "path", "expected"),
    [("darwin", "/Users/me/1.png", True), ("darwin", "/Volumes/stick/1.png", False), ("win32", "/data/1.png", False)],
)
def test_other_systems(monkeypatch, platform, path, expected):
    monkeypatch.setattr(sys, "platform", platform)
    assert is_dated(path) == expected


def test_a_system_that_does_not_list_its_mounts(tmp_path, monkeypatch):
    monkeypatch.setattr(image_identity, "_MOUNTS", str(tmp_path / "nothing"))
    assert not is_dated("/data/1.png")
