"""Load the model that the options name and its text-only baseline, check it, and describe it."""

import json
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from vlgate.asking.batching import Caller, Sizes, Watch, out_of_memory, unwatched
from vlgate.asking.checks.check import (
    ROUNDING,
    Anew,
    Check,
    check_batch_invariance,
    check_determinism,
    check_polarity,
    together,
)
from vlgate.asking.checks.precision import check_precision, drawn, lacks_room
from vlgate.asking.items import Copies, gets_names, images_of_case
from vlgate.asking.predictor import ModelPredictor, threshold_of
from vlgate.errors import ModelLoadError, ModelReplyError, described, printable
from vlgate.models.checkpoints.device import device_name, pick_device, room_of, share_threads
from vlgate.models.loading.compiled import compiled
from vlgate.models.loading.registry import LoadedModel, load, takes
from vlgate.models.loading.unloaded import note_of
from vlgate.models.reference.blind import Blind, Lesson
from vlgate.models.specs import registered
from vlgate.record.model_card import ModelCard, added
from vlgate.record.options import DEFAULT_BATCH, Options
from vlgate.run.cluster import load_on_cluster
from vlgate.run.planning import EMBEDDED
from vlgate.run.remembering import cache_use, keep_checks, kept_checks, remembering, unloaded
from vlgate.sources.graphs.generated import GENERATED, find_graphs
from vlgate.sources.reading.source import ReadOptions
from vlgate.sources.registry import read_tasks
from vlgate.types import (
    Answerer,
    Ask,
    Compare,
    Comparer,
    LazyImage,
    Prepared,
    Request,
    Task,
    images_of,
    text_of,
)

# The batch size that fits a model on a device: found once, as memory runs out, and remembered for the next run.

FILE = "batch-sizes.json"
MOST = 500
"""How many models and devices are remembered; those that were noted first make room."""


@dataclass(slots=True, kw_only=True)
class BatchSizes(Sizes):
    file: Path
    key: str
    default: int
    damaged: str = field(default="", init=False)
    remembered: int | None = field(default=None, init=False)

    def first(self) -> int:
        size = self._read().get(self.key)
        self.remembered = size if size is not None and size < self.default else None
        return self.remembered or self.default

    def halved(self, size: int) -> None:
        kept = {key: other for key, other in self._read().items() if key != self.key}
        content = dict([*kept.items(), (self.key, size)][-MOST:])
        part = self.file.with_name(f".{self.file.name}.{os.getpid()}.part")
        with suppress(OSError):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
            part.replace(self.file)  # whole or not at all; of two processes that write at once, one finds it again

    def note(self, size: int) -> str:
        notes = [self.damaged] if self.damaged else []
        if size < self.default:
            when = "in an earlier run" if size == self.remembered else "in this run"
            notes.append(
                f"the model got at most {size} requests at a time, because memory ran out with more {when}; "
                f"give --batch-size={self.default} to try more once, or delete {self.file} to forget all sizes"
            )
        return "; ".join(notes)

    def _read(self) -> dict[str, int]:
        self.damaged = ""
        try:
            content = json.loads(self.file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            self.damaged = f"{self.file} cannot be read ({error}), so no batch size is known; delete it"
            return {}
        right = isinstance(content, dict) and all(type(size) is int and size > 0 for size in content.values())
        if not right:
            self.damaged = f"{self.file} holds no batch sizes, so none is known; delete it"
            return {}
        return dict(content)


_OTHER_SEED = 1_000_003  # added to the run's seed; a user who tries neighbouring seeds does not meet it
_GRAPHS = "scene-graphs"


def lessons(tasks: Sequence[Task], options: Options) -> dict[str, Sequence[Lesson]]:
    # A cross-validated baseline is below chance on tasks that are balanced on purpose; one that is trained on
    # independent cases is not. Questions from scene graphs are made from each half of the graphs, and those of one half
    # judge the images of the other. If a half has too few questions, there is no lesson.
    wanted = {task.id for task in tasks}
    read = ReadOptions(
        folders=options.data,
        seed=options.seed + _OTHER_SEED,
        wanted=lambda name: name in wanted and name.startswith(f"{EMBEDDED}/"),
        pairs=options.pairs,
        missing_images=options.missing_images,
    )
    by_task: dict[str, Sequence[Lesson]] = {task.id: (Lesson(cases=task.cases),) for task in read_tasks(read)}
    tests = [test for test in GENERATED if f"{_GRAPHS}/{test}" in wanted]
    if tests:  # the import takes 0.1 s, because it loads the ontology and the generator
        from vlgate.sources.graphs.annotated import further_cases, half_of

        for test, halves in further_cases(read, tests, find_graphs(read.folders)).items():
            by_task[f"{_GRAPHS}/{test}"] = [
                Lesson(cases=cases, judges=lambda key, half=half: half_of(key) != half)  # type: ignore[misc]
                for half, cases in enumerate(halves)
            ]
    return by_task


CHECKED_CASES = 8  # per task; the first of their requests are asked again to check batch invariance and determinism


def load_model(
    options: Options, tasks: Sequence[Task], worker: int = 0, workers: int = 1, watch: Watch = unwatched
) -> tuple[LoadedModel, ModelPredictor]:
    if options.ray:
        remote, calls = load_on_cluster(options)
        return remote, replace(predictor_of(remote, replace(options, cache=None), tasks), caller=calls, cache=None)

    def build() -> LoadedModel:
        share_threads(workers)
        try:
            given = {name: getattr(options, name) for name in ("device", "dtype", "seed", "folder")}
            loaded = load(options.model, worker=worker, **given)
        except ModelLoadError as error:
            full = error.__cause__ is not None and out_of_memory(error.__cause__)
            says = room_of(pick_device(options.device, worker), workers) if full else ""
            raise (ModelLoadError(f"{error}; {says}") if says else error) from error.__cause__
        return compiled(loaded, pick_device(options.device, worker)) if options.compiled else loaded

    loaded = unloaded(options, worker, build) or build()
    predictor = predictor_of(loaded, options, tasks, watch)
    predictor.caller.room = partial(room_of, loaded.device, workers)
    return loaded, predictor


def checks_of(predictor: ModelPredictor, tasks: Sequence[Task], options: Options, plan: str) -> tuple[Check, ...]:
    # All but polarity ask the model itself, never a memory of its replies; batch invariance and determinism share a
    # round. Only a run that had all its replies from the cache takes the outcome of the checks from there too.
    kept = kept_checks(predictor, tasks, options, plan)
    if kept:
        return kept
    cache_of_run, remembers, predictor = predictor.cache, predictor.uncounted(), predictor.bare()
    cases = [task.cases[index] for index in range(CHECKED_CASES) for task in tasks if index < len(task.cases)]
    about = list(cases)
    for first, *others in (task.cases for task in tasks if task.cases):
        images = set(images_of_case(first))
        about += islice((other for other in others if images.isdisjoint(images_of_case(other))), 1)
    anew: Anew = "texts" if gets_names(predictor.model) else "all"
    anew = "" if options.model.partition(":")[0] in registered() else anew
    requests = [request for case in cases for request in case.requests]
    size = predictor.caller.size
    further = (request for task in tasks if anew for case in task.cases[:size] for request in case.requests)
    filled = _full_calls(requests, further, size)
    as_given = replace(predictor, seed=None)  # these checks choose the order of the requests
    takes_dtype = options.dtype != "float32" and takes(options.model, "dtype", folder=options.folder)
    tolerance = ROUNDING.get(options.dtype if takes_dtype else "float32", ROUNDING["float32"])
    made: list[Check] = []
    round_of = cache(lambda: together(as_given, requests))  # not kept if the model raises
    checks: dict[str, Callable[[], Check]] = {
        "polarity": lambda: check_polarity(remembers, tasks, options.seed),
        "batch_invariance": lambda: check_batch_invariance(as_given, filled, tolerance, about, round_of(), anew),
        "determinism": lambda: check_determinism(as_given, requests, tolerance, cases, round_of(), anew),
    }
    if options.compiled or options.dtype != "float32":
        checks["precision"] = lambda: _check_precision(predictor, tasks, options)
    for name, run in checks.items():
        try:
            made.append(run())
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  # a foreign model may raise anything, as pytest.skip() does
            why = str(error) if isinstance(error, ModelReplyError) else f"the model raised {described(error)}"
            made.append(Check(name=name, outcome="failed", why=why))
    keep_checks(cache_of_run, tuple(made), tasks, options, plan)
    return tuple(made)


def _full_calls(requests: Iterable[Request], further: Iterable[Request], size: int) -> list[Request]:
    """The first requests of each kind that fill a call of ``size`` images and texts; a call of requests if few."""
    asked: dict[type, tuple[dict[Request, None], set[LazyImage], set[str]]] = {}
    most = 4 * size  # a set of four asks four requests about an image
    for request, limit in chain(((one, most) for one in requests), ((one, size) for one in further)):
        of_kind, images, texts = asked.setdefault(type(request), ({}, set(), set()))
        shown = images_of(request)
        full = len(texts) >= size and (len(images) >= size or not shown)
        if not full and len(of_kind) < limit:
            of_kind[request] = None
            images.update(shown)
            texts.add(text_of(request))
    return [request for of_kind, _, _ in asked.values() for request in of_kind]


def _check_precision(predictor: ModelPredictor, tasks: Sequence[Task], options: Options) -> Check:
    if options.ray:
        why = "with --ray the model is not loaded a second time; run the command with --quick and without --ray"
        return Check(name="precision", outcome="not applicable", why=why)
    lacking = lacks_room(pick_device(options.device))
    if not options.compiled and not takes(options.model, "dtype", folder=options.folder):
        lacking = f"the model is built without a dtype, so --dtype={options.dtype} makes no difference"
    if lacking:
        return Check(name="precision", outcome="not applicable", why=lacking)
    try:
        plain = replace(options, dtype="float32", compiled=False, cache=None)
        _, full = load_model(plain, tasks, watch=predictor.caller.watch)
    except ModelLoadError as error:
        why = f"the model cannot be loaded again in float32 ({described(error)})"
        return Check(name="precision", outcome="not applicable", why=why)
    asked = f"compiled {options.dtype}" if options.compiled else options.dtype
    return check_precision(predictor, full.bare(), drawn(tasks, options.ties, options.seed), asked)


def card_of(loaded: LoadedModel, predictor: ModelPredictor, checks: tuple[Check, ...] = ()) -> ModelCard:
    notes = [note_of(loaded), predictor.caller.sizes.note(predictor.caller.size)]
    if isinstance(loaded.model, Prepared) and not loaded.registered:
        notes.append("prepare() was not called, because only vlgate's reference models are given the tasks and truths")
    return ModelCard(
        name=loaded.name,
        weights=loaded.weights,
        fingerprint=loaded.fingerprint,
        adapters=predictor.adapters(),
        notes=tuple(filter(None, map(printable, notes))),
        checks=checks,
        device=loaded.device,
        cache=cache_use(predictor.cache),
    )


def merged(cards: Sequence[ModelCard], name: str) -> ModelCard:
    if not cards:
        return ModelCard(name=name)
    notes = list(dict.fromkeys(note for card in cards for note in card.notes))
    checks = next((card.checks for card in cards if card.checks), ())
    devices = ", ".join(sorted({card.device for card in cards if card.device}))
    cache = added([card.cache for card in cards])
    return replace(cards[0], notes=tuple(notes), checks=checks, device=devices, cache=cache)


def blind_predictor(options: Options, tasks: Sequence[Task]) -> ModelPredictor:
    return replace(predictor_of(load("blind", seed=options.seed, folder=options.folder), options, tasks), seed=None)


def predictor_of(
    loaded: LoadedModel, options: Options, tasks: Sequence[Task], watch: Watch = unwatched
) -> ModelPredictor:
    # A model of the user's never sees the tasks, because they hold the truths. The text-only model learns generated
    # tasks from further cases of other seeds, as the baseline and as a model of a run.
    try:
        threshold_of(loaded.model, loaded.name)
    except ModelReplyError as error:
        raise ModelLoadError(str(error)) from None
    if options.ask == "together":
        _check_together(loaded, tasks)
    if isinstance(loaded.model, Blind):
        loaded.model.study(lessons(tasks, options))
    if isinstance(loaded.model, Prepared) and loaded.registered:
        loaded.model.prepare(tasks)
    from platformdirs import user_cache_path

    sharing = os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")  # workers, which share a device
    sizes = BatchSizes(
        file=user_cache_path("vlgate", appauthor=False) / FILE,
        key=f"{loaded.fingerprint} {device_name(loaded.device)} {sharing}",
        default=options.batch_size or DEFAULT_BATCH,
    )
    caller = Caller(
        name=loaded.name,
        size=options.batch_size or sizes.first(),
        watch=watch,
        sizes=sizes,
        dtype=options.dtype,
        copies=Copies(names=gets_names(loaded.model)),
    )
    return ModelPredictor(
        model=loaded.model,
        name=loaded.name,
        caller=caller,
        cache=remembering(loaded, options, tasks),
        on_missing=options.missing_images,
        seed=options.seed,
        together=options.ask == "together",
    )


def _check_together(loaded: LoadedModel, tasks: Sequence[Task]) -> None:
    if not isinstance(loaded.model, Comparer):
        raise ModelLoadError(
            f"the model {loaded.name!r} has no method compare(), which --ask=together needs to ask about several "
            "images in one prompt; leave --ask out, or write the method (docs/models.md)"
        )
    kinds = [{type(request) for case in task.cases[:1] for request in case.requests} for task in tasks]
    if not isinstance(loaded.model, Answerer) and any({Ask, Compare} <= of_task for of_task in kinds):
        raise ModelLoadError(
            f"the model {loaded.name!r} has compare(), but no method answer(), which --ask=together needs for the "
            "questions about two texts and one image; write it, too (docs/models.md)"
        )
    check: Any = getattr(loaded.model, "check_compare", None)
    if callable(check):
        check()
