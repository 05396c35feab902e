"""Files in the form in which the authors of further benchmarks release them; the tests write them."""

import json
from io import BytesIO

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image


def picture(colour):
    buffer = BytesIO()
    Image.new("RGB", (8, 6), colour).save(buffer, "PNG")
    return {"bytes": buffer.getvalue(), "path": None}


def table(rows):
    """A table as Hugging Face's datasets stores it: images are structs of bytes and path."""
    return pa.Table.from_pylist(rows)


def write_table(file, rows, *, parts=1):
    """Write a Parquet file, or the Arrow stream that ``save_to_disk`` writes, in so many groups of rows."""
    file.parent.mkdir(parents=True, exist_ok=True)
    size = -(-len(rows) // parts)
    if file.suffix == ".parquet":
        pq.write_table(table(rows), file, row_group_size=size)
        return
    whole = table(rows)
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_stream(sink, whole.schema) as writer:
        for batch in whole.to_batches(max_chunksize=size):
            writer.write_batch(batch)


def write_json(file, content):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content), encoding="utf-8")


def write_lines(file, records):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")


def bivlc(kind="swap", **changed):
    record = {
        "image": picture("red"),
        "caption": "a red cup on a blue plate",
        "negative_caption": "a blue cup on a red plate",
        "negative_image": picture("blue"),
        "type": kind,
        "subtype": "att",
    }
    return record | changed


def vismin(number, category="object", **changed):
    record = {
        "image_0": picture("red"),
        "image_1": picture("blue"),
        "text_0": "a dog on a mat",
        "text_1": "a cat on a mat",
        "category": category,
        "id": f"coco_{number}",
    }
    return record | changed


def naturalbench(number, kind="yes_no", **changed):
    options = "" if kind == "yes_no" else " Option: A:sleeping; B:playing;"
    yes, no = ("Yes", "No") if kind == "yes_no" else ("A", "B")
    record = {
        "Index": number,
        "Image_0": picture("red"),
        "Image_1": picture("blue"),
        "Question_0": f"Is the dog asleep?{options}",
        "Image_0_Question_0": yes,
        "Image_1_Question_0": no,
        "Question_1": f"Is the dog at play?{options}",
        "Image_0_Question_1": no,
        "Image_1_Question_1": yes,
        "Question_Type": kind,
        "Source": "DOCCI",
    }
    return record | changed


def colorswap(number, **changed):
    record = {
        "id": number,
        "caption_1": "a white raft on blue water",
        "caption_2": "a blue raft on white water",
        "image_1": f"images/img_{number}_1.png",
        "image_2": f"images/img_{number}_2.png",
        "image_source": "midjourney",
        "caption_source": "human",
    }
    return record | changed


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
    record = {
        "image_path": "2343.jpg",
        **dict(zip(("bbox_x", "bbox_y", "bbox_w", "bbox_h"), box, strict=True)),
        "true_caption": f"the man is {relation} the hat",
        "false_caption": f"the hat is {relation} the man",
        "relation_name": relation,
        "attributes": ["old", "red"],
    }
    return record | changed


def pope(number, label="yes", **changed):
    record = {
        "question_id": number,
        "image": "COCO_val2014_000000310196.jpg",
        "text": "Is there a snowboard in the image?",
        "label": label,
    }
    return record | changed


def pope_v2(number, edited):
    """A record of POPEv2: the edited image has the name of the photograph, in another folder."""
    return {
        "image_id": number,
        "image_name": f"{'/images' if edited else '/coco/train2017'}/{number:012}.jpg",
        "target_object": "remote",
        "query": "Is there a remote in the image?",
        "label": "No" if edited else "Yes",
    }


def hub_pope(number, category="random", answer="yes", **changed):
    """A row of lmms-lab/POPE."""
    record = {
        "id": str(number - 1),
        "question_id": str(number),
        "question": "Is there a snowboard in the image?",
        "answer": answer,
        "image_source": "COCO_val2014_000000310196",
        "image": picture("red"),
        "category": category,
    }
    return record | changed


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


def write(file, table, **how):
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, file, **how)


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


def hub_mmvp(number, **changed):
    """A row of lmms-lab-eval/MMVP."""
    record = {
        "Index": number,
        "Question": "Is the door open?",
        "Options": "(a) Open (b) Closed",
        "Correct Answer": "(a)" if number % 2 else "(b)",
        "image": picture("red" if number % 2 else "blue"),
    }
    return record | changed
