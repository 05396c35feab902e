"""A small set of cases with images, and voters who answer as they are told."""

import json

from PIL import Image

from vlgate.making.votes.form import items_of, shuffled
from vlgate.sources.own import cases
from vlgate.sources.reading.source import ReadOptions

SCRIPT = "<script>document.title='taken'</script>"
PAIRS = [
    {"image": "1.png", "caption": "A dog on a mat.", "foil": "A cat on a mat."},
    {"image": "1.png", "caption": f"A {SCRIPT} & </script /><!-- dog", "foil": f"A {SCRIPT} & cat {{{{form}}}}"},
    {"image": "2.png", "caption": "There are no people.", "foil": "There are people."},
    {"image": "2.png", "caption": "Ein Mädchen mit einem Ball 🎈", "foil": "Ein Junge mit einem Ball 🎈"},
]
QUAD = {"images": ["1.png", "2.png"], "captions": ["a dog on a cat", "a cat on a dog"]}
SET = {"image": "1.png", "true": ["A man eats.", "Food is eaten."], "false": ["A man sleeps.", "Food is sold."]}


def write_cases(folder, tasks):
    """Write cases by task, and their images; the id of a case is its position."""
    (folder / "cases").mkdir(parents=True)
    rows = [{"task": task, "id": str(n), **row} for task, of_task in tasks.items() for n, row in enumerate(of_task)]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "cases/all.jsonl").write_text(text)
    Image.new("RGB", (1200, 600), "red").save(folder / "1.png")
    Image.new("RGB", (40, 30), "blue").save(folder / "2.png")
    return folder


def read_items(folder, seed=0):
    options = ReadOptions(folders=(folder,), seed=seed, wanted=lambda _: True)
    return shuffled((item for task in cases.read(options) for item in items_of(task, seed)), seed)


def answer_of(item, meaning):
    """The answer that means "caption" or "foil" for an item; other answers mean themselves."""
    other = "second" if item.right == "first" else "first"
    return {"caption": item.right, "foil": other}.get(meaning, meaning)
