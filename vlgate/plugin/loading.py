"""The model as the suite uses it, from the options."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from numbers import Real

from vlgate.calling import Caller
from vlgate.checks import Check
from vlgate.errors import ModelLoadError
from vlgate.model_card import ModelCard
from vlgate.models.compiled import compiled
from vlgate.models.device import pick_device
from vlgate.models.precision import check_precision, drawn, lacks_room
from vlgate.models.registry import LoadedModel, load, takes
from vlgate.options import Options
from vlgate.polarity import check_polarity
from vlgate.scoring import DEFAULT_BATCH, Scorer
from vlgate.steadiness import check_batches
from vlgate.types import Prepared, Table

CHECKED_CASES = 8  # a table, of which the first requests are asked in batches and one by one


def load_model(options: Options, tables: Sequence[Table], worker: int) -> tuple[LoadedModel, Scorer]:
    """Load the model that the options name, on this worker's device.

    Raises: ModelLoadError where it cannot be had.
    """
    loaded = load(
        options.model,
        device=options.device,
        dtype=options.dtype,
        seed=options.seed,
        worker=worker,
        folder=options.folder,
    )
    if options.compiled:
        loaded = compiled(loaded, pick_device(options.device, worker))
    return loaded, scorer_of(loaded, options, tables)


def checks_of(scorer: Scorer, tables: Sequence[Table], options: Options) -> tuple[Mapping[str, object], ...]:
    """What the checks of polarity, determinism and, where it is not plain float32, precision say of a model.

    One that raises is not checked, and that is said.
    """
    requests = [request for table in tables for case in table.cases[:CHECKED_CASES] for request in case.requests]
    found: list[Mapping[str, object]] = []
    checks: dict[str, Callable[[], Check]] = {
        "polarity": lambda: check_polarity(scorer, tables, options.seed),
        "batches": lambda: check_batches(scorer, requests),
    }
    if options.compiled or options.dtype != "float32":
        checks["precision"] = lambda: _check_precision(scorer, tables, options)
    for name, run in checks.items():
        try:
            found.append(asdict(run()))
        except (Exception, SystemExit) as error:  # noqa: BLE001  # a foreign model may raise anything
            why = f"the model raised {type(error).__name__}: {error}"
            found.append({"name": name, "outcome": "not applicable", "why": why})
    return tuple(found)


def _check_precision(scorer: Scorer, tables: Sequence[Table], options: Options) -> Check:
    """Load the model once more, in plain float32, where that makes a difference and there is room for it."""
    lacking = lacks_room(pick_device(options.device))
    if not options.compiled and not takes(options.model, "dtype", folder=options.folder):
        lacking = f"the model is built without a dtype: --dtype {options.dtype} makes no difference"
    if lacking:
        return Check(name="precision", outcome="not applicable", why=lacking)
    _, full = load_model(replace(options, dtype="float32", compiled=False), tables, worker=0)
    asked = f"compiled {options.dtype}" if options.compiled else options.dtype
    return check_precision(scorer, full, drawn(tables, options.ties, options.seed), asked)


def card_of(loaded: LoadedModel, scorer: Scorer, checks: tuple[Mapping[str, object], ...] = ()) -> ModelCard:
    """What the report says of a loaded model, at the end of its session."""
    note = getattr(loaded.model, "note", "")
    return ModelCard(
        name=loaded.name,
        weights=loaded.weights,
        fingerprint=loaded.fingerprint,
        ways=scorer.ways(),
        notes=(str(note),) if note else (),
        checks=checks,
    )


def merged(cards: Sequence[ModelCard], name: str) -> ModelCard:
    """What all workers say of the model, as one card; ``name`` stands where no worker got as far as loading it."""
    if not cards:
        return ModelCard(name=name)
    notes = list(dict.fromkeys(note for card in cards for note in card.notes))
    if len({card.fingerprint for card in cards}) > 1:
        notes.append("the workers loaded different models: their fingerprints differ")
    checks = next((card.checks for card in cards if card.checks), ())
    return replace(cards[0], notes=tuple(notes), checks=checks)


def blind_scorer(options: Options, tables: Sequence[Table]) -> Scorer:
    """The text-only model that stands beside every figure."""
    return scorer_of(load("blind", seed=options.seed, folder=options.folder), options, tables)


def scorer_of(loaded: LoadedModel, options: Options, tables: Sequence[Table]) -> Scorer:
    """A loaded model, prepared with the run's tables where it is a reference model that must see them.

    Raises: ModelLoadError where its ``decision_threshold`` is no finite number.
    """
    threshold = getattr(loaded.model, "decision_threshold", None)
    if threshold is not None and not (isinstance(threshold, Real) and math.isfinite(threshold)):
        raise ModelLoadError(f"the model {loaded.name!r} has decision_threshold={threshold!r}; make it a finite number")
    if isinstance(loaded.model, Prepared):
        loaded.model.prepare(tables)
    return Scorer(
        model=loaded.model,
        name=loaded.name,
        caller=Caller(name=loaded.name, size=options.batch_size or DEFAULT_BATCH),
        on_missing=options.missing_images,
    )
