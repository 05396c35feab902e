"""A small release of Winoground in its three forms, which the tests of reading it share."""

import io
import json
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from vlgate.errors import DataError
from vlgate.sources.benchmarks.quads import TAGS, WINOGROUND
from vlgate.sources.reading.source import ReadOptions

FIELDS = {
    "caption_0": "an old person kisses a young person",
    "caption_1": "a young person kisses an old person",
    "tag": "Adjective-Age",
    "secondary_tag": "",
    "num_main_preds": 1,
    "collapsed_tag": "Object",
}


def row(number=0, **changes):
    """Return a row of the release with changes; a change to None removes the field."""
    images = {f"image_{place}": f"ex_{number}_img_{place}" for place in (0, 1)}
    fields = {"id": number, **images, **FIELDS, **changes}
    return {name: value for name, value in fields.items() if value is not None}


def colour(number, place):
    """Return the colour of an image; every image has another one."""
    return (number * 20 % 256, 50 + 100 * place, 7)


def png(number, place):
    stream = io.BytesIO()
    Image.new("RGB", (3, 2), colour(number, place)).save(stream, "PNG")
    return stream.getvalue()


def write_lines(folder, *rows, place="winoground/data"):
    (folder / place).mkdir(parents=True, exist_ok=True)
    (folder / place / "examples.jsonl").write_text("".join(json.dumps(fields) + "\n" for fields in rows))


def write_parquet(folder, *rows, place="winoground/data", name="test-00000-of-00001.parquet", **how):
    """Write rows as Hugging Face's datasets saves them: an image is a struct of bytes and path."""
    (folder / place).mkdir(parents=True, exist_ok=True)
    images = [
        {f"image_{p}": {"bytes": png(fields["id"], p), "path": f"ex_{fields['id']}_img_{p}.png"} for p in (0, 1)}
        for fields in rows
    ]
    table = pa.Table.from_pylist([{**fields, **image} for fields, image in zip(rows, images, strict=True)])
    pq.write_table(table, folder / place / name, **how)


def write_zip(folder, *numbers, place="winoground/data", inside="images/"):
    (folder / place).mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / place / "images.zip", "w") as archive:
        for number in numbers:
            for image in (0, 1):
                archive.writestr(f"{inside}ex_{number}_img_{image}.png", png(number, image))
                archive.writestr(f"__MACOSX/{inside}._ex_{number}_img_{image}.png", b"no image")


def write_tags(folder, content, name=TAGS[0]):
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(content))


def tasks(*folders, wanted=lambda _: True):
    return list(WINOGROUND.read(ReadOptions(folders=folders, seed=0, wanted=wanted)))


def cases(*folders):
    [task] = tasks(*folders)
    return task.cases


def problem(folder, *rows, writer=write_lines):
    writer(folder, *rows)
    with pytest.raises(DataError) as caught:
        tasks(folder)
    assert str(folder / "winoground/data") in str(caught.value)
    assert "; " in str(caught.value)
    return str(caught.value)


def seen(case):
    """Return the colours of a case's two images."""
    return [case.requests[place].image.load().getpixel((0, 0)) for place in (0, 2)]


WRITERS = pytest.mark.parametrize("writer", [write_lines, write_parquet])
