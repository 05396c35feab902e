"""The recipe: the models, what each is trained on, and the folder of each."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from train import clip, lessons, lxmert
from train.blank import NOTHING, blank
from train.drawing import drawn
from train.features import Look, looked_at
from train.pairs import LENGTH
from train.regions import settings_for, train_regions
from train.scenes import FIRST_SEED, Scene, portion
from train.vocabulary import save_tokenizer
from vlgate.models.regions.region_network import SETTINGS, WEIGHTS, Pixels, load_network, network_source, write_settings

LXMERT, CLIP = "tiny-lxmert", "tiny-clip"
WORDS = (*settings_for().objects, *settings_for().attributes)  # what may be asked for, whether it was or not


@dataclass(frozen=True, slots=True, kw_only=True)
class Amounts:
    """How much is trained: portions of scenes, those for the region network, its epochs, and steps of the others.

    Of each portion, ``every``-th scene is used, and ``workers`` processes draw them. ``twins`` says whether the twins
    are trained as well.
    """

    portions: int = 6
    for_regions: int = 2
    epochs: int = 5
    lxmert: int = 2800
    clip_images: int = 3600
    clip_texts: int = 1400
    every: int = 1
    workers: int = 2
    twins: bool = True


TRIAL = Amounts(portions=1, for_regions=1, epochs=2, lxmert=24, clip_images=3, clip_texts=4, every=30, workers=1)
"""Seconds of training, to see that it runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """Prints lines with the seconds since ``began``, and appends them to a file."""

    file: Path
    began: float

    def __call__(self, line: str) -> None:
        """Write a line."""
        line = f"{time.monotonic() - self.began:6.0f} s  {line}"
        print(line, flush=True)
        with self.file.open("a", encoding="utf-8") as stream:
            stream.write(line + "\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The scenes, all texts and questions about them, and all answers."""

    scenes: Sequence[Scene]
    texts: Sequence[str]
    answers: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """One run of the recipe."""

    world: World
    seed: int
    amounts: Amounts
    log: Log

    def regions(self, folder: Path) -> None:
        """Train the region network into a folder."""
        from safetensors.torch import save_file

        scenes = self.world.scenes[: _size(self.amounts, self.world)]
        settings = settings_for()
        log = self.log
        network = train_regions(
            scenes, settings, epochs=self.amounts.epochs, seed=self.seed, workers=self.amounts.workers, log=log
        )
        folder.mkdir(parents=True, exist_ok=True)
        write_settings(settings, folder)
        save_file({name: tensor.contiguous() for name, tensor in network.state_dict().items()}, folder / WEIGHTS)

    def lxmert(self, seen: lxmert.Seen, network: Path, folder: Path) -> None:
        """Train LXMERT into a folder, on the features of the region network in another or the same."""
        import torch

        torch.set_num_threads(1)
        torch.manual_seed(self.seed)
        tokenizer = save_tokenizer((*self.world.texts, *self.world.answers), folder, length=lessons.LENGTH)
        taught = lessons.lessons_of(self.world.scenes, self.world.answers, tokenizer)
        settings = settings_for()
        model = lxmert.build_lxmert(len(tokenizer), len(taught.answers), settings.width)
        lxmert.ground(model, load_network(network, settings), settings, tokenizer)
        lxmert.train_lxmert(model, taught, seen, steps=self.amounts.lxmert, seed=self.seed, log=self._named(folder))
        model.save_pretrained(folder)
        (folder / "label2ans.json").write_text(json.dumps(taught.answers, indent=0) + "\n", encoding="utf-8")
        if network != folder:
            for name in (SETTINGS, WEIGHTS):
                shutil.copy(network / name, folder / name)

    def clip(self, images: Pixels, folder: Path) -> None:
        """Train the model of open_clip into a folder."""
        import torch
        from safetensors.torch import save_file

        torch.set_num_threads(1)
        tokenizer = save_tokenizer((*self.world.texts, *self.world.answers), folder, length=LENGTH)
        course = clip.Course(
            images=self.amounts.clip_images, texts=self.amounts.clip_texts, seed=self.seed, log=self._named(folder)
        )
        model = clip.train_clip(self.world.scenes, images, tokenizer, folder, course)
        # Half precision is enough to store; the loaders compute in float32.
        states = {name: _half(tensor).contiguous() for name, tensor in model.state_dict().items()}
        save_file(states, folder / "open_clip_model.safetensors")

    def _named(self, folder: Path) -> Callable[[str], None]:
        return lambda line: self.log(f"{folder.parent.name}/{line}")


def train(out: Path, work: Path, seed: int, amounts: Amounts, names: Sequence[str] = (LXMERT, CLIP)) -> None:
    """Train the models of these names into ``out``, and their twins, which see one blank image, into ``work``.

    The twins are left out if ``amounts`` says so.

    ``work/log-NAME.txt`` is the log, with the names joined by a plus.
    """
    work.mkdir(parents=True, exist_ok=True)
    log = Log(file=work / f"log-{'+'.join(names)}.txt", began=time.monotonic())
    log.file.unlink(missing_ok=True)
    shutil.rmtree(work / "results", ignore_errors=True)  # figures of earlier models
    first = FIRST_SEED + 1000 * seed
    scenes = [scene for index in range(amounts.portions) for scene in portion(first + index, amounts.every)]
    world = World(
        scenes=scenes,
        texts=[text for scene in scenes for text, _ in (*scene.texts, *scene.questions)],
        answers=sorted({answer for scene in scenes for _, answer in scene.questions} | {*WORDS}),
    )
    log(f"{len(scenes)} scenes, {len(world.texts)} texts and questions, {len(world.answers)} answers")
    training = Training(world=world, seed=seed, amounts=amounts, log=log)
    network = out / LXMERT

    def lxmerts() -> None:
        looked = list(looked_at(scenes, Look(folder=network, width=settings_for().width), amounts.workers))
        seen = lxmert.stacked(looked)
        log(f"all scenes are looked at; {seen.mask.sum(axis=1).mean():.1f} regions an image")
        training.lxmert(seen, network, network)
        if amounts.twins:
            nothing = network_source(network, "cpu", width=settings_for().width).regions([NOTHING])
            training.lxmert(lxmert.stacked(nothing * len(scenes)), network, work / LXMERT)

    def clips() -> None:
        images = np.stack(list(drawn(scenes, clip.small, amounts.workers)))
        training.clip(images, out / CLIP)
        if amounts.twins:
            training.clip(np.broadcast_to(clip.small(blank()), images.shape), work / CLIP)

    if LXMERT in names:
        in_lanes([lambda: training.regions(network)])
    in_lanes([job for name, job in ((LXMERT, lxmerts), (CLIP, clips)) if name in names])
    log("done")
    for name in names:
        shutil.copy(log.file, out / name / "training.log")


def in_lanes(jobs: Sequence[Callable[[], None]]) -> None:
    """Run each job in a process of its own, all at once.

    Raises: RuntimeError if one fails.
    """
    processes = [get_context("fork").Process(target=job) for job in jobs]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        raise RuntimeError("training failed; the traceback is above")


def _size(amounts: Amounts, world: World) -> int:
    return len(world.scenes) * amounts.for_regions // amounts.portions


def _half(tensor: Any) -> Any:
    return tensor.half() if tensor.is_floating_point() else tensor
