"""A whole run with everything on against the bare batched loop of its model, in one process.

The images are drawn scenes in files. A run of the suite reads them, keys them by their content, decodes them ahead,
asks the model, keeps the replies in an empty cache, and judges, one case in each item. With
``--items batch``, an item has up to 256 cases, as in a run of more than 2,000. The loop is what a user writes: decode,
prepare, stack, encode in batches of 64, multiply. The script prints the throughput of the run as a share of the loop's,
in CPU seconds and on the clock, from the first case to the last::

    python benchmarks/everything_on.py --images 2000
    python benchmarks/everything_on.py --images 100 --model open_clip:ViT-B-32/random
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from run_all import Row

ROOT = Path(__file__).parents[1]
BAR = 0.95
CLOCK = """
import json, os, time
from pathlib import Path

now = lambda: (time.process_time(), time.perf_counter())
loops, starts, ends, computes = [], [], [], [0.0, 0.0]

def bare(folder, model):
    from vlgate.images.files import file_image
    from vlgate.types import Match
    records = json.loads((folder / "data/valse/existence.json").read_text()).values()
    named = [(record, record["image_file"].removeprefix("v7w_")) for record in records]
    pairs = [Match(image=file_image(name, folder / "data/images/vg" / name), text=record[which])
             for record, name in named for which in ("caption", "foil")]
    images = list(dict.fromkeys(pair.image for pair in pairs))
    from PIL import Image
    def chunk(start):
        return [model._prepare(Image.open(folder / "data/images/vg" / image.key.split("/")[-1]).convert("RGB"))
                for image in images[start : start + 64]]
    import torch
    texts, places = [pair.text for pair in pairs], {image: place for place, image in enumerate(images)}
    with torch.inference_mode():
        start = now()
        shown = torch.cat([model._model.encode_image(torch.stack(chunk(at)).to(model._device), normalize=True).cpu()
                           for at in range(0, len(images), 64)])
        tokens = [model._tokenizer(texts[at : at + 64]).to(model._device) for at in range(0, len(texts), 64)]
        words = torch.cat([model._model.encode_text(some, normalize=True).cpu() for some in tokens])
        scores = (shown[[places[pair.image] for pair in pairs]] * words).sum(dim=1).numpy()
        spent = [end - begin for begin, end in zip(start, now())]
        if torch.cuda.is_available():
            ready = [torch.stack(chunk(at)) for at in range(0, len(images), 64)]
            start = now()
            for pixels in ready:
                model._model.encode_image(pixels.to(model._device), normalize=True).cpu()
            computes[:] = [end - begin for begin, end in zip(start, now())]
        return spent

def pytest_collection_finish(session):
    from vlgate.models.loading.registry import load
    model = load(os.environ["MODEL"], folder=Path()).model
    model.encode_texts(["warm"])
    bare(Path(), model)  # reads the files into memory
    loops.append(bare(Path(), model))

def pytest_runtest_logreport(report):
    if report.when == "setup" and not starts:
        starts.append(now())  # the model is loaded
    ends[:] = [now()]

def pytest_sessionfinish(session):
    run = [end - begin for begin, end in zip(starts[0], ends[0])]
    found = {"bare": loops[0], "run": run, "cuda": [any(computes)], "computes": computes}
    Path("clock.json").write_text(json.dumps(found))
"""


def main() -> int:
    """Write the files, run, print; the exit status is 1 below the bar."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=2_000)
    parser.add_argument("--model", default="tiny-clip")
    parser.add_argument("--items", choices=("pair", "batch"), default="pair")
    parser.add_argument("--form", choices=("png", "jpg"), default="jpg")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder, given.images, given.form)
        spent = measured(folder, given.model, given.items)
    cpu, wall = (loop / run for loop, run in zip(spent["bare"], spent["run"], strict=True))
    held = "one case" if given.items == "pair" else "up to 256 cases"
    per = [seconds / given.images * 1e3 for seconds in (spent["bare"][0], spent["run"][0])]
    print(
        f"everything_on: {given.model}, {given.images:,} {given.form} images with two texts each, {held} in each item"
    )
    print(f"everything_on: {per[0]:.1f} ms of CPU an image in the loop, {per[1]:.1f} ms in the run")
    print(f"everything_on: {cpu:.3f} x the loop's throughput in CPU time, {wall:.3f} x on the clock, bar {BAR}")
    what = f"{given.model}, {given.images:,} images, {held} in each item: throughput against a bare batched loop"
    print(Row(what=f"{what}, in CPU time", ratio=cpu, bar=BAR))
    print(Row(what=f"{what}, on the clock", ratio=wall, bar=BAR))
    if spent["cuda"][0]:
        print(
            Row(
                what=f"{given.model}: share of the run in which the GPU computes",
                ratio=spent["computes"][1] / spent["run"][1],
            )
        )
    else:
        print("everything_on: the share of the run in which the GPU computes is skipped: there is no GPU")
    return int(min(cpu, wall) < BAR)


def prepare(folder: Path, images: int, form: str) -> None:
    """Write drawn scenes to files, and a record about each."""
    from vlgate.fixtures.scenes.draw import draw
    from vlgate.fixtures.scenes.scene_graphs import as_gqa, world_graphs

    place = folder / "data/images/vg"
    place.mkdir(parents=True)
    records = {}
    for number, graph in enumerate(world_graphs(0, images)):
        draw(as_gqa(graph)).save(place / f"{number}.{form}")
        records[f"existence_{number}"] = {
            "dataset": "visual7w",
            "original_split": "test",
            "linguistic_phenomena": "existence",
            "image_file": f"v7w_{number}.{form}",
            "caption": f"There is a red cube beside the small cup, number {number}.",
            "foil": f"There is no red cube beside the small cup, number {number}.",
            "classes": 0,
            "classes_foil": [1],
            "provenance_of_foils": "zero_to_something",
            "mturk": {"foil": 0, "caption": 3, "other": 0},
        }
    (folder / "data/valse").mkdir()
    (folder / "data/valse/existence.json").write_text(json.dumps(records))
    (folder / "clock.py").write_text(CLOCK)


def measured(folder: Path, model: str, items: str) -> dict[str, list[float]]:
    """Run the suite with the loop before it; return the CPU and clock seconds of both."""
    options = [f"--model={model}", "--data=data", "--results=out", "--cache=kept", f"--items={items}", "--health=off"]
    command = [sys.executable, "-m", "pytest", "--pyargs", "tests_vl", "-q", "-p", "no:cacheprovider", "-p", "clock"]
    more = {"PYTHONPATH": f"{ROOT}{os.pathsep}{folder}", "MODEL": model}
    environment = {**os.environ, **more}
    done = subprocess.run(
        [*command, *options], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if not (folder / "clock.json").exists():
        raise SystemExit(f"everything_on: the run ended with {done.returncode}\n{(done.stdout + done.stderr)[-3000:]}")
    found: dict[str, list[float]] = json.loads((folder / "clock.json").read_text())
    return found


if __name__ == "__main__":
    sys.exit(main())
