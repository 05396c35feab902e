"""A run of the suite against the captions-choice evaluation of CLIP_benchmark, on the same pairs and weights.

Both are started as a user starts them, whole command against whole command, in turn: open_clip's ViT-B-32 with random
weights in float32, or the small ``tiny-clip`` with its own, on SugarCrepe's pairs with an object added. Wall time and
CPU seconds of all processes are printed as ratios, and both must be right equally often. With ``--within``, the cost of
the suite's checks is measured instead, as a share of a run of 5,000 pairs.

Needs SugarCrepe's ``add_obj.json`` and COCO's photographs: ``--data DIR``. Where a photograph of a pair is not there,
a copy of another one takes its place, so that as many files are decoded. Without CLIP_benchmark, for which
``pip install clip_benchmark pycocoevalcap`` is needed, only the suite is run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic, process_time
from typing import Any

from run_all import Row

ROOT = Path(__file__).parents[1]
FILE = "add_obj.json"
PAIRS = 300  # the least that the bar is about, with ViT-B-32
FULL_RUN = 5_000  # pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What one command took, and how many of the pairs the model had right."""

    wall: float
    cpu: float
    right: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """The same model for both: ``--model`` of vlgate, and the two options of CLIP_benchmark."""

    ours: str
    arch: str
    weights: str


def main() -> None:
    """Lay out the data, run both commands in turn, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data")
    parser.add_argument("--pairs", type=int, default=100, help="how many pairs; 2,000 take 15 minutes on two cores")
    parser.add_argument("--model", choices=("ViT-B-32", "tiny-clip"), default="ViT-B-32")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--clip-benchmark", default="clip_benchmark", help="its command")
    parser.add_argument(
        "--within", action="store_true", help="instead, the cost of a pair and of the checks, in one process"
    )
    parser.add_argument("--kept", type=Path, help="a folder of what CLIP_benchmark took, measured once for two trees")
    given = parser.parse_args()
    try:
        import open_clip  # noqa: F401
    except ModuleNotFoundError as error:
        print(f"captions_choice: skipped, {error.name} is not installed; pip install 'vlgate[clip]'")
        return
    with TemporaryDirectory() as folder:
        try:
            images = lay_out(given.data, Path(folder), given.pairs)
        except FileNotFoundError as error:
            print(f"captions_choice: skipped, there is no {error.filename}; name a data folder with --data")
            return
        print(f"captions_choice: {given.pairs} pairs of {images} images, {given.model}, float32")
        network = tiny() if given.model == "tiny-clip" else vit(write_weights(Path(folder)))
        if given.within:
            within(Path(folder), network, given.rounds)
        else:
            report(Path(folder), network, located(given.clip_benchmark), given.rounds, given.kept)


def located(named: str) -> str | None:
    """The path of a command that is beside this Python, on the PATH or named by its path; None if it is not there."""
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    place = shutil.which(named, path=places)
    return None if place is None else os.path.abspath(place)  # noqa: PTH100  # a link stays a link


def vit(weights: Path) -> Network:
    """The ViT-B-32 of a file of weights."""
    return Network(ours=f"open_clip:ViT-B-32/{weights}", arch="ViT-B-32", weights=str(weights))


def tiny() -> Network:
    """The embedded model."""
    folder = ROOT / "fixtures/checkpoints/tiny-clip"
    return Network(ours="tiny-clip", arch=f"local-dir:{folder}", weights="")


def lay_out(data: Path, folder: Path, pairs: int) -> int:
    """Write the first pairs and their images for both commands, and return the number of images."""
    records = json.loads((data / "sugarcrepe/data" / FILE).read_text())
    some = dict(islice(records.items(), pairs))
    photographs = sorted((data / "images/coco").glob("*.jpg"))
    if not photographs:
        raise FileNotFoundError(2, "no photographs", str(data / "images/coco/*.jpg"))
    (folder / "data/sugarcrepe/data").mkdir(parents=True)
    (folder / "data/images/coco").mkdir(parents=True)
    for place in (folder / FILE, folder / "data/sugarcrepe/data" / FILE):
        place.write_text(json.dumps(some))
    names = list(dict.fromkeys(record["filename"] for record in some.values()))
    for name, other in zip(names, cycle(photographs), strict=False):
        own = data / "images/coco" / name
        shutil.copy(own if own.exists() else other, folder / "data/images/coco" / name)
    (folder / "val2017").symlink_to(folder / "data/images/coco")
    return len(names)


def write_weights(folder: Path) -> Path:
    """Write random weights, the same in every run."""
    import open_clip
    import torch

    torch.manual_seed(0)
    file = folder / "vit-b-32.pt"
    torch.save(open_clip.create_model("ViT-B-32").state_dict(), file)
    return file


def report(folder: Path, network: Network, theirs: str | None, rounds: int, kept: Path | None) -> None:
    """Run the commands in turn, each first in every other round, and print the ratios."""
    if theirs is None:
        print(
            "captions_choice: CLIP_benchmark is skipped, its command is not installed; "
            "pip install clip_benchmark pycocoevalcap, or name it with --clip-benchmark"
        )
    commands: list[Callable[[], Spent]] = [lambda: ours(folder, network)]
    if theirs is not None:
        commands.append(lambda: once(kept, folder, network, theirs))
    spent: list[list[Spent]] = []
    for number in range(rounds):
        order = commands if number % 2 else commands[::-1]
        found = [command() for command in order]
        spent.append(found if number % 2 else found[::-1])
    for name, runs in zip(("vlgate", "CLIP_benchmark"), zip(*spent, strict=True), strict=False):
        wall, cpu = median(run.wall for run in runs), median(run.cpu for run in runs)
        print(f"captions_choice: {name}: {cpu:.0f} CPU seconds, {wall:.0f} s, right {runs[0].right:.4f}")
    if theirs is not None:
        cpu, wall = (median(pair[1].cpu / pair[0].cpu for pair in spent), median(p[1].wall / p[0].wall for p in spent))
        print(f"captions_choice: vlgate takes 1/{cpu:.2f} of its CPU seconds and 1/{wall:.2f} of its time")
        pairs = len(json.loads((folder / FILE).read_text()))
        bar = None if network == tiny() or pairs < PAIRS else 2  # a short run is mostly start and checks
        what = f"whole command, {pairs:,} pairs, {network.ours.partition('/')[0]}: CLIP_benchmark's"
        print(Row(what=f"{what} CPU seconds against vlgate's", ratio=cpu, bar=bar))
        print(Row(what=f"{what} time against vlgate's", ratio=wall, bar=bar))


def ours(folder: Path, network: Network) -> Spent:
    """Run the suite."""
    results = folder / "results"
    command = [
        sys.executable, "-m", "pytest", str(ROOT / "tests_vl"), "-q", "-p", "no:cacheprovider",
        f"--model={network.ours}", "--cache=off", f"--data={folder / 'data'}", f"--results={results}", "--overwrite",
    ]  # fmt: skip
    wall, cpu, said = timed(command, folder)
    if not (results / "metrics.json").exists():
        sys.exit(f"captions_choice: the run failed\n{said}")
    tasks = json.loads((results / "metrics.json").read_text())["tasks"]
    return Spent(wall=wall, cpu=cpu, right=tasks["sugarcrepe/add_obj"]["metrics"]["acc_r"]["value"])


def once(kept: Path | None, folder: Path, network: Network, command: str) -> Spent:
    """Run CLIP_benchmark, or read what it took if that is kept."""
    if kept is None:
        return clip_benchmark(folder, network, command)
    file = kept / f"{Path(network.arch).name}-{len(json.loads((folder / FILE).read_text()))}.json"
    if not file.exists():
        file.write_text(json.dumps(asdict(clip_benchmark(folder, network, command))))
    return Spent(**json.loads(file.read_text()))


def clip_benchmark(folder: Path, network: Network, command: str) -> Spent:
    """Run CLIP_benchmark, in float32 as the suite."""
    output = folder / "clip_benchmark.json"
    wall, cpu, said = timed(
        [
            command, "eval", "--dataset=sugar_crepe/add_obj", f"--dataset_root={folder}", f"--model={network.arch}",
            f"--pretrained={network.weights}", "--task=image_caption_selection", "--no_amp", f"--output={output}",
        ],
        folder,
    )  # fmt: skip
    if not output.exists():
        sys.exit(f"captions_choice: CLIP_benchmark failed\n{said}")
    return Spent(wall=wall, cpu=cpu, right=json.loads(output.read_text())["metrics"]["text_acc"])


def timed(command: list[str], folder: Path) -> tuple[float, float, str]:
    """Run a command; its wall time, the CPU seconds of its processes, and what it said."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), monotonic()
    env = {name: value for name, value in os.environ.items() if not re.match("VLGATE_|CI$", name)}
    env |= {"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return monotonic() - start, cpu, (done.stdout + done.stderr)[-2000:]


def within(folder: Path, network: Network, rounds: int) -> None:
    """Print what one pair and the checks cost in one process, which says how longer runs compare."""
    from vlgate.record.options import Options
    from vlgate.run.loading import checks_of, load_model
    from vlgate.run.planning import make_plan

    options = Options(
        folder=folder, model=network.ours, data=(folder / "data",), thresholds=None,
        results=folder / "none",
    )  # fmt: skip
    tasks = make_plan(options).tasks
    loaded, predictor = load_model(options, tasks, 0)
    requests = [request for task in tasks for case in task.cases for request in case.requests]
    theirs = evaluation(folder, loaded.model, network)
    predictor.predict(requests[:2])  # the first call warms up
    ours, others = [], []
    for _ in range(rounds):
        ours.append(cpu_of(lambda: predictor.predict(requests)) / len(requests) * 2)
        if theirs is not None:
            others.append(cpu_of(theirs) / len(requests) * 2)
    print(f"captions_choice: one pair takes vlgate {median(ours) * 1000:.0f} ms of CPU", end="")
    print(f", CLIP_benchmark {median(others) * 1000:.0f} ms, in one process" if others else "")
    checked = cpu_of(lambda: checks_of(predictor, tasks, options, "the benchmark"))
    share = checked / (checked + median(ours) * FULL_RUN)
    print(f"captions_choice: the checks take {checked:.1f} CPU seconds, {share:.1%} of a run of {FULL_RUN:,} pairs")


def evaluation(folder: Path, model: Any, network: Network) -> Callable[[], object] | None:
    """Return CLIP_benchmark's evaluation of the same network; None if it is not installed in this environment."""
    try:
        from clip_benchmark.datasets.builder import image_captions_collate_fn
        from clip_benchmark.datasets.sugar_crepe import SugarCrepe
        from clip_benchmark.metrics.image_caption_selection import evaluate
    except ModuleNotFoundError:
        return None
    import open_clip
    from torch.utils.data import DataLoader

    data = SugarCrepe(root=str(folder / "val2017"), ann_file=str(folder / FILE), transform=model._prepare)  # noqa: SLF001
    loader = DataLoader(data, batch_size=64, collate_fn=image_captions_collate_fn)
    tokenizer = open_clip.get_tokenizer(network.arch)
    return lambda: evaluate(model._model, loader, tokenizer, "cpu", amp=False)  # noqa: SLF001


def cpu_of(call: Callable[[], object]) -> float:
    """The CPU seconds of a call, of all threads of this process."""
    start = process_time()
    call()
    return process_time() - start


if __name__ == "__main__":
    main()
