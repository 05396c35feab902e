"""Files in the form in which the authors of benchmarks and others release them, and the tasks that are read of them."""

import json
import zipfile
from copy import deepcopy
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from vlgate.sources.reading.source import ReadOptions
from vlgate.sources.registry import read_source
from vlgate.types import Ask

REAL = Path(__file__).parents[4] / "shared" / "data"
HERE = Path(__file__).parent
SMALL = json.loads((HERE / "small_releases.json").read_text())
RECORDS = json.loads((HERE / "records.json").read_text())
RED, BLUE = [255, 0, 0], [0, 0, 255]


def tasks(source, *folders, wanted=lambda _: True, **more):
    """The tasks of a source by their ids."""
    options = ReadOptions(folders=folders, seed=0, wanted=wanted, **more)
    return {task.id: task for task in read_source(source, options)}


def only(source, *folders, **more):
    [task] = tasks(source, *folders, **more).values()
    return task


def counts(found):
    return {name: len(task.cases) for name, task in found.items()}


def colour(image):
    return np.asarray(image.load())[0, 0].tolist()


def asked(case):
    return [
        (one.image.key, one.question, one.choices) if isinstance(one, Ask) else (one.image.key, one.text)
        for one in case.requests
    ]


def lines(records):
    return "".join(f"{json.dumps(record)}\n" for record in records)


def write(file, content, **how):
    """Write a table, an image of a colour, lines of JSON, JSON or a text, by the file's ending; return the file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        file.write_bytes(content)
    elif file.suffix in {".parquet", ".arrow"}:
        write_table(file, content if isinstance(content, pa.Table) else pa.Table.from_pylist(content), **how)
    elif file.suffix in {".png", ".jpg", ".jpeg"}:
        Image.new("RGB", (4, 4), content).save(file)
    elif isinstance(content, str):
        file.write_text(content, encoding="utf-8")
    else:
        file.write_text(lines(content) if file.suffix == ".jsonl" else json.dumps(content), encoding="utf-8")
    return file


def write_table(file, table, *, parts=1, **how):
    """Write a Parquet file, or the Arrow stream that ``save_to_disk`` writes, in so many groups of rows."""
    size = -(-len(table) // parts)
    if file.suffix == ".parquet":
        pq.write_table(table, file, **{"row_group_size": size, **how})
        return
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        for batch in table.to_batches(max_chunksize=size):
            writer.write_batch(batch)


def shards(place, name, rows, pieces, suffix="parquet"):
    """Write rows in so many files, named as datasets names them."""
    size = -(-len(rows) // pieces)
    for number in range(pieces):
        file = place / f"{name}-{number:05}-of-{pieces:05}.{suffix}"
        write(file, rows[number * size : (number + 1) * size], parts=2)


def csv(header, rows):
    return "\n".join([header, *(row if isinstance(row, str) else ",".join(row) for row in rows)]) + "\n"


def changed(content, field, value):
    """The content with another value, in JSON, at a path of keys; ``absent`` leaves the key out, "." is the whole."""
    if field == ".":
        return json.loads(value)
    content = deepcopy(content)
    inner, *keys = content, *field.split(".")
    for depth, name in enumerate(keys, 1):
        key = int(name) if isinstance(inner, list) else name
        if depth < len(keys):
            inner = inner[key]
        elif value == "absent":
            del inner[key]
        else:
            inner[key] = json.loads(value)
    return content


def picture(name):
    """An image as Hugging Face's datasets stores it."""
    buffer = BytesIO()
    Image.new("RGB", (8, 6), name).save(buffer, "PNG")
    return {"bytes": buffer.getvalue(), "path": None}


def record(name, **changed):
    return {
        field: picture(value["colour"]) if isinstance(value, dict) and "colour" in value else value
        for field, value in (RECORDS[name] | changed).items()
    }


def bivlc(kind="swap", **changed):
    return record("bivlc", type=kind, **changed)


def vismin(number, category="object", **changed):
    return record("vismin", category=category, id=f"coco_{number}", **changed)


def naturalbench(number, kind="yes_no", **changed):
    options = "" if kind == "yes_no" else " Option: A:sleeping; B:playing;"
    yes, no = ("Yes", "No") if kind == "yes_no" else ("A", "B")
    group = {
        "Index": number,
        "Image_0": picture("red"),
        "Image_1": picture("blue"),
        "Question_0": f"Is the dog asleep?{options}",
        "Question_1": f"Is the dog at play?{options}",
        **{f"Image_{i}_Question_{q}": yes if i == q else no for i in (0, 1) for q in (0, 1)},
        "Question_Type": kind,
        "Source": "DOCCI",
    }
    return group | changed


def naturalbench_rows(number, kind="yes_no", **changed):
    """The four rows of a group of BaiqiL/NaturalBench-lmms-eval."""
    group = naturalbench(number, kind, **changed)
    return [
        {
            "Index": 4 * number + 2 * question + image,
            "Image": group[f"Image_{image}"],
            "Question": group[f"Question_{question}"],
            "Answer": group[f"Image_{image}_Question_{question}"],
            "Question_Type": kind,
            "Source": "DOCCI",
        }
        for question in (0, 1)
        for image in (0, 1)
    ]


def colorswap(number, **changed):
    images = {f"image_{which}": f"images/img_{number}_{which}.png" for which in (1, 2)}
    return record("colorswap", **{"id": number, **images, **changed})


PREPOSITIONS = ("left_of", "right_of", "on", "under")
BEHIND = ("left_of", "right_of", "in-front_of", "behind")


def whatsup(things=("cup", "table"), prepositions=PREPOSITIONS, folder="controlled_images", **changed):
    """The four records of two things."""
    first, second = things
    captions = [f"A {first} {preposition.replace('_', ' ')} a {second}" for preposition in prepositions]
    return [
        {
            "image_path": f"data/{folder}/{first}_{preposition}_{second}.jpeg",
            "caption_options": [caption, *(other for other in captions if other != caption)],
        }
        | changed
        for preposition, caption in zip(prepositions, captions, strict=True)
    ]


def aro(relation="wearing", box=(10, 20, 30, 40), **changed):
    texts = {"true_caption": f"the man is {relation} the hat", "false_caption": f"the hat is {relation} the man"}
    sides = {f"bbox_{side}": value for side, value in zip("xywh", box, strict=True)}
    return record("aro", **{"relation_name": relation, **texts, **sides, **changed})


def pope(number, label="yes", **changed):
    return record("pope", question_id=number, label=label, **changed)


def pope_v2(number, edited, **changed):
    """A record of POPEv2: the edited image has the name of the photograph, in another folder."""
    name = f"{'/images' if edited else '/coco/train2017'}/{number:012}.jpg"
    return record("popev2", **{"image_id": number, "image_name": name, "label": "No" if edited else "Yes", **changed})


def hub_pope(number, category="random", answer="yes", **changed):
    """A row of lmms-lab/POPE."""
    ids = {"id": str(number - 1), "question_id": str(number)}
    return record("hub pope", **{**ids, "category": category, "answer": answer, **changed})


def hub_mmvp(number, **changed):
    """A row of lmms-lab-eval/MMVP."""
    answer, shown = ("(a)", "red") if number % 2 else ("(b)", "blue")
    return record("hub mmvp", **{"Index": number, "Correct Answer": answer, "image": picture(shown), **changed})


def winoground(number, **changed):
    """A row of Winoground's Parquet files as Hugging Face gives them."""
    row = record("winoground", id=number)
    for place in (0, 1):
        row[f"image_{place}"]["path"] = f"ex_{number}_img_{place}.png"
    return row | changed


def shade(number, place):
    """The colour of an image of Winoground; every image has another one."""
    return (number * 20 % 256, 50 + 100 * place, 7)


def winoground_line(number=0, **changes):
    """A line of Winoground's examples with changes; a change to None removes the field."""
    images = {f"image_{place}": f"ex_{number}_img_{place}" for place in (0, 1)}
    fields = SMALL["winoground"]["content"][0] | {"id": number, **images, **changes}
    return {name: value for name, value in fields.items() if value is not None}


def with_images(lines):
    """Lines of Winoground's examples as rows of a table."""
    return [
        fields
        | {
            f"image_{place}": picture(shade(fields["id"], place)) | {"path": f"ex_{fields['id']}_img_{place}.png"}
            for place in (0, 1)
        }
        for fields in lines
    ]


def winoground_zip(folder, *numbers, inside="images/"):
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / "images.zip", "w") as archive:
        for name in [f"ex_{number}_img_{place}.png" for number in numbers for place in (0, 1)]:
            _, number, _, place = name.removesuffix(".png").split("_")
            archive.writestr(f"{inside}{name}", picture(shade(int(number), int(place)))["bytes"])
            archive.writestr(f"__MACOSX/{inside}._{name}", b"no image")


def sugarcrepe_table(rows, *, names=True):
    """A table of HuggingFaceM4/SugarCrepe_<kind>: ``rows`` are (caption, foil, name of the image)."""
    classes = sorted({text for caption, foil, _ in rows for text in (caption, foil)}, reverse=True)
    table = pa.table(
        {
            "image": [picture("red") | {"path": name} for _, _, name in rows],
            "tested_labels": [[caption, foil] for caption, foil, _ in rows],
            "true_label": pa.array([classes.index(caption) for caption, _, _ in rows], pa.int64()),
        }
    )
    features = {
        "image": {"_type": "Image"},
        "tested_labels": {"feature": {"dtype": "string", "_type": "Value"}, "_type": "Sequence"},
        "true_label": {"names": classes, "_type": "ClassLabel"},
    }
    return table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})} if names else {})
