"""Small checkpoints of each family, and the suite on the drawn scenes with each: ``python families.py FOLDER``.

One process runs them all: importing torch and transformers takes longer than all the runs.
"""

import gc
import importlib
import sys
from functools import cache
from pathlib import Path

DUAL = ("clip", "siglip", "siglip2", "align", "altclip", "metaclip2", "chinese-clip", "tipsv2", "naflex")
CROSS = ("vilt", "blip", "blip2", "blip-itc", "blip2-itc", "bridgetower", "flava", "blip-vqa", "vilt-vqa")
VLMS = ("llava", "qwen3_vl")
VOLTA = ("volta-vilbert", "volta-uniter", "volta-lxmert", "volta-vl-bert", "volta-visualbert", "vilbert-12-in-1")
ON_REGIONS = ("lxmert", "visualbert", *VOLTA)
TEXT_ONLY = ("gpt1", "gpt2", "bert")
WRITERS = {
    "dual_checkpoints": DUAL, "cross_checkpoints": CROSS, "tiny_vlms": VLMS, "region_stubs": ON_REGIONS[:2],
    "volta_checkpoints": VOLTA, "text_checkpoints": TEXT_ONLY,
}  # fmt: skip
EVERY = (*DUAL, *CROSS, *VLMS, *ON_REGIONS, *TEXT_ONLY)
NAMES = (*DUAL[:8], *CROSS[:8], *VLMS, *ON_REGIONS[:4], *TEXT_ONLY)
"""Those with which the suite is run."""
CASES = 2  # of each task
_NAMES = "foil-it counting-small word-swap active-passive coordination order-inv negation-dir visual-inv"
TASKS = tuple(f"scenes/{name}" for name in _NAMES.split())
"""Tasks of every shape and capability."""


def saved(name, folder):
    """Write the checkpoint of a family; return its ``--model``, for regions without the file of features."""
    module = next(module for module, names in WRITERS.items() if name in names)
    importlib.import_module(module).save(name, folder / name)
    called = {"naflex": "siglip2", "bert": "masked", **dict.fromkeys(VLMS, "vlm")}
    return f"{called.get(name, name)}:{folder / name}"


def with_features(name, model, keys, folder):
    """A ``--model`` on regions with random features of 36 boxes for each key, written into ``folder``."""
    import numpy as np

    if name not in ON_REGIONS:
        return model
    width = 8 if name in ON_REGIONS[:2] else 16
    file = folder / f"{width}.npz"
    if not file.exists():
        drawn = np.random.default_rng(width)
        features = drawn.normal(size=(len(keys), 36, width)).astype(np.float32)
        boxes = np.sort(drawn.random((len(keys), 36, 2, 2)), axis=2).reshape(len(keys), 36, 4).astype(np.float32)
        np.savez(file, images=np.array(keys), features=features, boxes=boxes)
    return f"{model}?regions={file}"


def main(folder):
    import pytest

    from vlgate.sources.reading.source import ReadOptions
    from vlgate.sources.registry import read_tasks
    from vlgate.sources.scenes import made

    once = cache(lambda wanted, seed, make=made.make: [*make(wanted, seed)])
    made.make = lambda wanted, seed: once(tuple(wanted), seed)  # the lessons of all runs are the same
    (folder / "thresholds.toml").write_text("schema = 1\n")
    tasks = read_tasks(ReadOptions(folders=(), seed=0, wanted=lambda name: name.startswith("scenes/")))
    keys = sorted({request.image.key for task in tasks for case in task.cases for request in case.requests})
    models = {name: with_features(name, saved(name, folder), keys, folder) for name in NAMES}
    gc.freeze()  # each run looks for garbage twice, among all objects of torch
    for name, model in models.items():
        pytest.main([
            "--pyargs", "tests_vl", "-q", "-p", "no:cacheprovider", f"--rootdir={folder}", f"--model={model}",
            f"--suite={','.join(TASKS)}", f"--limit={CASES}", f"--results={folder}/out-{name}", "--device=cpu",
            "--health=off", f"--thresholds={folder}/thresholds.toml",
        ])  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]))
