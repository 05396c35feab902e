"""A file of a run as text that two runs share: no times, versions, paths, host facts or random names."""

import json
import re
import sqlite3
from contextlib import closing
from hashlib import blake2b
from pathlib import Path

VOLATILE = {"python", "platform", "cpus", "packages", "uuid", "seal"}
VOLATILE |= {"time", "start", "stop", "timestamp", "created", "date"}
"""Keys of JSON objects whose values are times, versions, host facts, random names, or digests of a whole with these."""
TEXTS = {".csv", ".jsonl", ".out", ".toml", ".tsv", ".txt", ".xml", ".yaml", ".yml"}
TEXTS |= {".html", ".md", ".mjs", ".py", ".svg"}
PICTURES = {".jpeg", ".jpg", ".png", ".webp"}
_CHANGING = (
    (re.compile(r"20\d\d-\d\d-\d\d([T ]\d\d[:-]\d\d([:-]\d\d)?(\.\d+)?(\+00[:-]00|Z)?)?"), "<date>"),
    (re.compile(r"\b\d+(\.\d+)?s\b( \(\d+:\d\d:\d\d\))?"), "<time>"),
    (re.compile(r"\b(about |at most )?(\d+ (h|min) )?\d+(\.\d+)? (s|seconds)\b"), "<time>"),
    (re.compile(r'\b(time|timestamp|hostname)="[^"]*"'), r'\1="..."'),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<uuid>"),
    (re.compile(r'"(oldest|newest)": \d+'), r'"\1": ...'),
    (re.compile(r"/tmp/tmp\w{8}"), "<temporary>"),
    (re.compile(r"(?<=<checkout>/vlgate/)[\w/-]+/(?=\w+\.\w+)"), ""),  # a file of ours, wherever it lies
    (re.compile(r"={3,}|_{3,}"), "==="),
    (re.compile(r"^vlgate: [\d,]+ of [\d,]+ cases, .* left\n", re.MULTILINE), ""),  # seen in runs that take seconds
    (re.compile(r"^[.a-zA-Z]* *\[ *\d+%\]$\n?|^[.bmsxFEX]+\n", re.MULTILINE), ""),  # letters, one per test
    (re.compile(r"^vlgate: (about .* to ask|the estimate before|checks of the model and) .*\n", re.MULTILINE), ""),
)
_DATA_URI = re.compile(r"data:image/[\w+.-]+;base64,([A-Za-z0-9+/=]+)")
_FLOAT = re.compile(r"-?\d+\.\d+(e[+-]?\d+)?|\b\d+e-\d+\b")
_DIGEST = re.compile(r"(?<=data:)[0-9a-f]{12}|(?<=pixels )[0-9a-f]{12}")
_ROUNDED = 6  # significant digits: sums of float64 differ between processors from about the 15th on


def normal(file: Path, paths: dict[str, str]) -> str:
    """Return a file's content as text, with the paths replaced by what stands for them."""
    if file.suffix == ".json":
        text = as_json(json.loads(file.read_text(encoding="utf-8")))
    elif file.suffix == ".parquet":
        text = _table(file)
    elif file.suffix == ".sqlite":
        text = _replies(file)
    elif file.suffix in PICTURES:
        text = _picture(file)
    elif file.suffix in TEXTS or not file.suffix:
        text = file.read_text(encoding="utf-8")
    else:
        text = f"{digest(file.read_bytes())}\n"
    return words(text, paths)


def words(text: str, paths: dict[str, str]) -> str:
    """Return a text without what changes from run to run."""
    for path, name in paths.items():
        text = text.replace(path, name)
    text = _DATA_URI.sub(lambda uri: f"data:{digest(uri[1].encode())}", text)
    for pattern, stands in _CHANGING:
        text = pattern.sub(stands, text)
    return text


def rounded(text: str) -> str:
    """Return a text with its fractions rounded, for sums whose last bits depend on the processor."""
    return _FLOAT.sub(lambda number: f"{float(number[0]):.{_ROUNDED}g}", text)


def masked(text: str) -> str:
    """Return a text without its fractions and the digests of its images.

    Float32 sums of torch differ between processors from about the 6th digit on. To round them is not enough: of a
    thousand scores, some lie so near to a border of rounding that they fall on its other side.
    """
    return _DIGEST.sub("#", _FLOAT.sub("#", text))


def digest(content: bytes) -> str:
    """Return 12 hexadecimal digits that tell one content from another."""
    return blake2b(content, digest_size=6).hexdigest()


def as_json(value: object) -> str:
    """Return a value as indented JSON without volatile keys, its other keys in their order."""
    return json.dumps(_lasting(value), indent=1, ensure_ascii=False) + "\n"


def _lasting(value: object) -> object:
    if isinstance(value, dict):
        return {key: "..." if key in VOLATILE else _lasting(item) for key, item in value.items()}
    return [_lasting(item) for item in value] if isinstance(value, list) else value


def _table(file: Path) -> str:
    """A Parquet file as its schema and a line per row: the bytes of the file depend on the version of Arrow."""
    from pyarrow import parquet

    table = parquet.read_table(file)
    rows = (json.dumps(row, ensure_ascii=False, default=str) for row in table.to_pylist())
    return "\n".join([str(table.schema), *rows]) + "\n"


def _replies(file: Path) -> str:
    """A cache as its number of keys by model: a key covers our own source, and replies are in predictions.parquet."""
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as store:
        rows = store.execute(
            "SELECT name, count(DISTINCT key) FROM replies JOIN models ON models.id = model GROUP BY 1"
        )
        return "".join(f"{name} {keys}\n" for name, keys in sorted(rows))


def _picture(file: Path) -> str:
    """An image as the digest of its pixels: the bytes of the file depend on the version of the encoder."""
    from PIL import Image

    with Image.open(file) as image:
        return f"{image.size} {image.mode} pixels {digest(image.tobytes())}\n"


def allure(folder: Path, paths: dict[str, str]) -> str:
    """A folder of Allure as a line per result and attachment, sorted: their names are random."""
    attached = {
        file.name: digest(words(file.read_bytes().decode(errors="replace"), paths).encode())
        for file in folder.iterdir()
        if "-attachment" in file.name
    }
    lines = [f"{file.name.split('-')[-1]} {_with(attached, file, paths)}" for file in folder.glob("*.json")]
    return "".join(sorted(line + "\n" for line in lines))


def _with(attached: dict[str, str], file: Path, paths: dict[str, str]) -> str:
    text = json.dumps(_lasting(json.loads(file.read_text(encoding="utf-8"))), ensure_ascii=False)
    for name, content in attached.items():
        text = text.replace(name, content)
    return words(text, paths)
