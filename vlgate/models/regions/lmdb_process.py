"""The process that reads an LMDB: a damaged one kills the process that reads it, because LMDB trusts what it maps.

It imports nothing of vlgate, so that it starts quickly. Its arguments are the path, and whether it is a folder (1 or
0). Standard input: the keys to read, one per line, in hexadecimal. Standard output: for all keys of the database, and
then for each key that was asked for, a status byte, a length of 8 bytes, and as many bytes. The status is ``+`` for
content (the keys are joined by line feeds, in hexadecimal), ``0`` for no entry, ``-`` for a message.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lmdb

LARGEST = 1 << 28  # bytes of an entry; the largest real ones, of 100 boxes, have 1.1 MB
_SMALLEST = 8  # bytes that an entry takes at least, in the file


def main(path: str, *, folder: bool) -> None:
    try:
        opened, size = _opened(path, folder=folder)
        with opened.begin() as read:
            keys = list(_keys(read, size // _SMALLEST))
    except (lmdb.Error, OSError, ValueError) as error:
        _send(b"-", str(error).encode())
        return
    _send(b"+", b"\n".join(key.hex().encode() for key in keys))
    for line in sys.stdin:
        try:
            with opened.begin(buffers=True) as read:
                content = read.get(bytes.fromhex(line))
                if content is not None and len(content) > LARGEST:
                    raise ValueError(f"the entry claims {len(content):,} bytes")  # noqa: TRY301
                _send(b"0" if content is None else b"+", b"" if content is None else bytes(content))
        except (lmdb.Error, ValueError) as error:
            _send(b"-", str(error).encode())


def _opened(path: str, *, folder: bool) -> tuple[Any, int]:
    opened = lmdb.open(path, subdir=folder, readonly=True, lock=False, readahead=False, create=False)
    size = (Path(path) / "data.mdb" if folder else Path(path)).stat().st_size
    whole = (opened.info()["last_pgno"] + 1) * opened.stat()["psize"]
    if size < whole:
        raise ValueError(f"it is cut off: it has {size:,} of {whole:,} bytes")
    return opened, size


def _keys(read: Any, most: int) -> Iterator[bytes]:
    for number, key in enumerate(read.cursor().iternext(keys=True, values=False)):
        if number > most:  # a damaged page can name one that comes before it
            raise ValueError("it lists more entries than fit into it")
        yield bytes(key)


def _send(status: bytes, content: bytes) -> None:
    sys.stdout.buffer.write(status + len(content).to_bytes(8, "big") + content)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(sys.argv[1], folder=sys.argv[2] == "1")
