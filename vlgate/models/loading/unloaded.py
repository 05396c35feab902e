"""A model that is known by its files without being built; it is built when it is first asked something."""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from vlgate.asking.items import gets_names
from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints import hub
from vlgate.models.checkpoints.fingerprint import digest, digest_path, path_named
from vlgate.models.checkpoints.transformers_loading import NOTES
from vlgate.models.loading.compiled import modules_of
from vlgate.models.loading.registry import LoadedModel
from vlgate.types import Match

# Each of these functions takes the weights after the colon of ``--model``, the folder that the user started in, and the
# default weights. It tells what the files of a model hold without building it, so that a run that has all its replies
# need not load it: a string that changes with every byte that the model is built from; empty if only building it tells.


def checkpoint(weights: str, folder: Path, default: str) -> str:
    name, _, options = weights.partition("?")
    values = [part.partition("=")[2] for part in options.split("&") if part]
    if any(path_named(value, folder) for value in values):
        return ""
    return f"{hub.identity(hub.pretrained(name, folder, default=default))} {options}"


def embedded(weights: str, folder: Path, default: str) -> str:  # noqa: ARG001  # as above
    from vlgate.models.tiny import checkpoint as place

    return "" if weights else digest_path(place(default))


def open_clip(weights: str, folder: Path, default: str) -> str:  # noqa: ARG001  # as above
    """Describe local weights of open_clip; open_clip itself knows where the others lie."""
    from vlgate.models.dual.open_clip_weights import parse

    source = parse(weights, folder)
    if source.path is None or source.kind not in ("file", "folder"):
        return ""
    return digest(source.kind, source.name, digest_path(source.path))


_NAMED = "it gets the names of images (image_names), which may tell more than the pixels"
_ASKED = ("match", "accepts", "encode_images", "encode_texts", "answer", "compare", "perplexity", "text_keys")


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    name: str
    weights: str
    fingerprint: str
    device: bool
    own_fingerprint: str
    methods: tuple[str, ...]
    decision_threshold: float | None
    note: str
    reading: str | None


def face_of(loaded: LoadedModel) -> Face | None:
    """Return what a run must know of a model; None if it cannot tell yet how it reads texts, or has no fingerprint."""
    model: Any = loaded.model
    reading = getattr(model, "reading", None)
    if not hasattr(model, "fingerprint") or reading == "":
        return None
    threshold = getattr(model, "decision_threshold", None)
    return Face(
        name=loaded.name,
        weights=loaded.weights,
        fingerprint=loaded.fingerprint,
        device=bool(loaded.device),
        own_fingerprint=str(model.fingerprint),
        methods=tuple(name for name in _ASKED if callable(getattr(model, name, None))),
        decision_threshold=None if threshold is None else float(threshold),
        note=note_of(loaded),
        reading=reading,
    )


def note_of(loaded: LoadedModel) -> str:
    modules = modules_of(loaded.model) if loaded.registered else []
    notes = [
        str(getattr(loaded.model, "note", "")),
        *(note for module in modules for note in getattr(module, NOTES, ())),
    ]
    notes += [_NAMED] if gets_names(loaded.model) and _NAMED not in notes[0] else []
    return "; ".join(dict.fromkeys(filter(None, notes)))


def face_from(content: Mapping[str, Any]) -> Face | None:
    known = {field.name for field in fields(Face)}
    return Face(**{**content, "methods": tuple(content["methods"])}) if set(content) == known else None


class Unloaded:
    def __init__(self, face: Face, build: Callable[[], LoadedModel]) -> None:
        self.fingerprint = face.own_fingerprint
        self.decision_threshold = face.decision_threshold
        self.note = face.note
        self._face = face
        self._build = build
        self._model: Any = None

    @property
    def loaded(self) -> bool:
        return self._model is not None

    @property
    def reading(self) -> str:
        return self._face.reading or ""

    @property
    def cut_texts(self) -> AbstractSet[str]:
        texts: AbstractSet[str] = getattr(self._model, "cut_texts", frozenset())
        return texts

    @property
    def neither(self) -> AbstractSet[Match]:
        unsure: AbstractSet[Match] = getattr(self._model, "neither", frozenset())
        return unsure

    def load(self) -> Any:
        if self._model is None:
            loaded = self._build()
            if loaded.fingerprint != self._face.fingerprint:
                raise ModelLoadError(
                    f"model={self._face.name!r}: it is not the one that the cache holds replies of, although its files "
                    "are the same; run again with --cache=off, and report this"
                )
            self._model = loaded.model
        return self._model


def stand_in(face: Face, build: Callable[[], LoadedModel]) -> Unloaded:
    def asking(name: str) -> Callable[[Unloaded, Sequence[Any]], Any]:
        return lambda unloaded, items: getattr(unloaded.load(), name)(items)

    made: Unloaded = type("Unloaded", (Unloaded,), {name: asking(name) for name in face.methods})(face, build)
    return made
