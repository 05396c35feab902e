"""A digest of the image files of a plan: two machines with the same digest have the same files by name and size."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

from vlgate.images.files import is_there
from vlgate.types import LazyImage, Task, images_of

ABSENT = -1
"""The size of a file that is not there."""
_WITHIN = ("#", ", column ")  # what follows the path of a file: the name of a perturbation, the place in a Parquet file


def images_digest(tasks: Iterable[Task]) -> str:
    """Return a digest (32 hexadecimal digits) of the keys of all images, each with the size of its file in bytes.

    No file is opened. The folder of a file does not count, because machines keep the
    same data in different places. Drawn images have no file.
    """
    found: dict[str, int] = {}
    sizes: dict[str, int] = {}
    for task in tasks:
        for case in task.cases:
            for request in case.requests:
                for image in images_of(request):
                    if image.key not in found:
                        found[image.key] = _size(image, sizes)
    whole = blake2b(digest_size=16)
    for key, size in sorted(found.items()):
        whole.update(f"{len(key)}:{key}\0{size}\n".encode(errors="surrogatepass"))
    return whole.hexdigest()


def _size(image: LazyImage, sizes: dict[str, int]) -> int:
    """The size of the file that an image comes from, which may be a perturbed one (``#``) or a member of an archive."""
    if not is_there(image):
        return ABSENT
    return _of_file(image.where, sizes)


def _of_file(where: str, sizes: dict[str, int]) -> int:
    if where not in sizes:
        try:
            sizes[where] = Path(where).stat().st_size
        except NotADirectoryError:  # a member of an archive
            sizes[where] = _of_file(str(Path(where).parent), sizes)
        except (OSError, ValueError):
            inner = next((where.rpartition(mark)[0] for mark in _WITHIN if mark in where), "")
            sizes[where] = _of_file(inner, sizes) if inner else ABSENT
    return sizes[where]
