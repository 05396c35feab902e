"""Compute fingerprints: hashes of what a model's replies depend on, under which its predictions are cached."""

import hashlib
import os
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def digest(*parts: str) -> str:
    """Return the SHA-256 of a sequence of strings; moving a character from one string to the next changes it.

    >>> digest("oracle", "1") == digest("oracle1")
    False
    """
    whole = hashlib.sha256()
    for part in parts:
        encoded = part.encode(errors="surrogatepass")
        whole.update(len(encoded).to_bytes(8, "big") + encoded)
    return whole.hexdigest()


def digest_path(path: Path) -> str:
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        return digest(*(part for file in files for part in (file.relative_to(path).as_posix(), digest_path(file))))
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def expanded(text: str, folder: Path) -> Path:
    return folder / os.path.expanduser(text)  # noqa: PTH111  # Path.expanduser raises for the home of nobody


def path_named(text: str, folder: Path) -> Path | None:
    """Return the file or folder that a part of ``--model`` names; None if there is none, whatever the text is."""
    path = expanded(text, folder)
    return path if text and os.path.exists(path) else None  # noqa: PTH110  # Path.exists raises for a long text


def digest_source(made_by: object) -> str:
    module = sys.modules.get(getattr(made_by, "__module__", None) or "")
    file = getattr(module, "__file__", None)
    return digest_path(Path(file)) if file and Path(file).is_file() else ""


@cache
def installed_version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
