"""Run the suite on the embedded scenes with a small checkpoint of each family: ``python every_family.py FOLDER``.

One process runs them all: importing torch and transformers takes longer than all the runs.
"""

import sys
from pathlib import Path

DUAL = ("clip", "siglip", "siglip2", "align", "altclip", "metaclip2", "chinese-clip", "tipsv2")
CROSS = ("vilt", "blip", "blip2", "blip-itc", "blip2-itc", "bridgetower", "flava")
VLMS = ("llava", "qwen3_vl")
ON_REGIONS = ("lxmert", "visualbert", "volta-vilbert", "volta-uniter")
TEXT_ONLY = ("gpt1", "gpt2", "bert")
NAMES = (*DUAL, *CROSS, "blip-vqa", *VLMS, *ON_REGIONS, *TEXT_ONLY)
CASES = 2  # of each task
_NAMES = "foil-it counting-small word-swap active-passive coordination order-inv negation-dir visual-inv"
TASKS = tuple(f"scenes/{name}" for name in _NAMES.split())
"""Tasks of every shape and capability."""


def from_pixels(folder):
    """Write the checkpoints that read pixels; return their ``--model`` by name."""
    import cross_checkpoints
    import dual_checkpoints
    import tiny_vlms

    models = {name: f"{name}:{dual_checkpoints.save(name, folder / name)}" for name in DUAL}
    models |= {name: f"{name}:{cross_checkpoints.save(name, folder / name)}" for name in CROSS}
    models["blip-vqa"] = f"blip-vqa:{cross_checkpoints.save('blip_vqa', folder / 'blip-vqa')}"
    for name in VLMS:
        for part in getattr(tiny_vlms, name)():
            part.save_pretrained(folder / name)
        models[name] = f"vlm:{folder / name}"
    return models


def from_regions(folder):
    """Write the checkpoints that read region features, and random features; return their ``--model`` by name."""
    import region_stubs
    import transformers
    import volta_checkpoints

    size = {"vocab_size": len(region_stubs.TOKENS), "hidden_size": 32, "num_attention_heads": 2}
    size |= {"intermediate_size": 64, "max_position_embeddings": 24}
    layers = {"l_layers": 1, "x_layers": 1, "r_layers": 1, "num_object_labels": 4, "num_attr_labels": 3}
    lxmert = transformers.LxmertConfig(**size, **layers, visual_feat_dim=region_stubs.WIDTH, num_qa_labels=6)
    visualbert = transformers.VisualBertConfig(**size, num_hidden_layers=2, visual_embedding_dim=region_stubs.WIDTH)
    region_stubs.saved(lambda: transformers.LxmertForPreTraining(lxmert), folder / "lxmert", spread=0.1)
    region_stubs.saved(lambda: transformers.VisualBertForPreTraining(visualbert), folder / "visualbert", spread=0.2)
    for name in ("vilbert", "uniter"):
        settings = volta_checkpoints.config_of(name)
        volta_checkpoints.save(folder / f"volta-{name}", settings, volta_checkpoints.state_of(settings))
    widths = {name: 16 if name.startswith("volta") else region_stubs.WIDTH for name in ON_REGIONS}
    for width in set(widths.values()):
        save_features(folder / f"{width}.npz", width)
    return {name: f"{name}:{folder / name}?regions={folder}/{width}.npz" for name, width in widths.items()}


def save_features(file, width):
    """Write random features of 36 boxes for every image of the embedded scenes."""
    import numpy as np

    from vlgate.sources.reading.source import ReadOptions
    from vlgate.sources.registry import read_tasks

    tasks = read_tasks(ReadOptions(folders=(), seed=0, wanted=lambda name: name.startswith("scenes/")))
    keys = sorted({request.image.key for task in tasks for case in task.cases for request in case.requests})
    drawn = np.random.default_rng(width)
    features = drawn.normal(size=(len(keys), 36, width)).astype(np.float32)
    boxes = np.sort(drawn.random((len(keys), 36, 2, 2)), axis=2).reshape(len(keys), 36, 4).astype(np.float32)
    np.savez(file, images=np.array(keys), features=features, boxes=boxes)


def from_text(folder):
    """Write the checkpoints that read text only; return their ``--model`` by name."""
    import text_checkpoints

    return {
        name: f"{'masked' if name == 'bert' else name}:{text_checkpoints.save(name, folder / name)}"
        for name in TEXT_ONLY
    }


LONG = "a red dot of the big square . " * 60
TEXTS = (LONG + "red", LONG + "blue", *("a big red dot of the square . " * n for n in range(1, 8)))


def twins(model, name):
    """Ask a model two texts with the same beginning, and two images with equal pixels, among others.

    Returns: the scores of the two texts, and of the two images, in batches of 3 and of 64.
    """
    from dataclasses import replace

    from vlgate.asking.batching import Caller
    from vlgate.asking.predictor import ModelPredictor
    from vlgate.models import load
    from vlgate.sources.reading.source import ReadOptions
    from vlgate.sources.registry import read_tasks
    from vlgate.types import Match, Read

    (task,) = read_tasks(ReadOptions(folders=(), seed=0, wanted=lambda one: one == "scenes/foil-it"))
    images = list(dict.fromkeys(request.image for case in task.cases[:4] for request in case.requests))
    if name not in ON_REGIONS:
        images.append(replace(images[0], key="copy"))
    wrapped = load(model, device="cpu", folder=Path()).model
    found = []
    for size in (3, 64):
        predictor = ModelPredictor(model=wrapped, name=name, caller=Caller(name=name, size=size), seed=0)
        asked = [Match(image=image, text=text) for image in images for text in TEXTS]
        asked = [Read(text=text) for text in TEXTS] if name in TEXT_ONLY else asked
        scores = [reply.score for reply in predictor.predict(asked).values()]
        found.append({"texts": scores[:2], "images": [scores[:9][3:], scores[-9:][3:]]})
    return found


def main(folder):
    import json

    import pytest

    (folder / "thresholds.toml").write_text("schema = 1\n")
    models = {**from_pixels(folder), **from_regions(folder), **from_text(folder)}
    equal = {name: twins(model, name) for name, model in models.items() if name not in VLMS}
    (folder / "twins.json").write_text(json.dumps(equal))
    for name, model in models.items():
        pytest.main([
            "--pyargs", "tests_vl", "-q", "-p", "no:cacheprovider", f"--rootdir={folder}", f"--model={model}",
            f"--suite={','.join(TASKS)}", f"--limit={CASES}", f"--results={folder}/out-{name}", "--device=cpu",
            "--health=off", f"--thresholds={folder}/thresholds.toml",
        ])  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]))
