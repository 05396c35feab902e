"""Sentence similarity: embeddings of a model of sentence-transformers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.damaged import damaged, one_line
from vlgate.models.checkpoints.hub import Pretrained, folder_of, identity, pretrained
from vlgate.models.checkpoints.missing import missing_package
from vlgate.models.checkpoints.quiet import no_bars
from vlgate.models.checkpoints.transformers_loading import load_model
from vlgate.models.judges.batches import BATCH
from vlgate.types import FloatArray

_MODULES = "modules.json"
_POOLER = (r"pooler\..*",)  # models that pool in another way are published without it


class SentenceEncoder:
    """A model of sentence-transformers."""

    def __init__(self, model: Any, *, fingerprint: str) -> None:
        """Wrap a loaded ``SentenceTransformer``."""
        self.fingerprint = fingerprint
        self._model = model

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Return unit vectors, shape (n, d); their products are cosines."""
        if not texts:
            return np.zeros((0, self._model.get_embedding_dimension()))
        found = self._model.encode(list(texts), batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(found, dtype=np.float64)


def similarity(weights: str, device: str = "cpu", *, folder: Path = Path(), dtype: str = "float32") -> SentenceEncoder:
    """Load a model of sentence-transformers by its hub repository or folder.

    No code of the repository is run, and only modules of sentence-transformers itself are taken.

    Raises: ModelLoadError if the library is missing, or the checkpoint cannot be loaded or lacks weights.
    """
    try:
        import sentence_transformers
        import transformers
    except ModuleNotFoundError as error:
        raise missing_package(error.name or "sentence-transformers", "text") from None
    source = pretrained(weights, folder)
    place = folder_of(source)
    _check_modules(source, place)
    first = replace(source, location=str(_first(place)), local=True)
    load_model(transformers.AutoModel, first, device="cpu", dtype=dtype, may_miss=_POOLER)
    try:
        with no_bars():
            model = sentence_transformers.SentenceTransformer(
                str(place),
                device=device,
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"dtype": dtype, "use_safetensors": any(_first(place).glob("*.safetensors"))},
            )
    except damaged() as error:
        raise ModelLoadError(f"{source.asked} cannot be loaded ({one_line(error)}); download it again") from error
    what = f"{identity(source)} {sentence_transformers.__version__} {transformers.__version__} {dtype}"
    return SentenceEncoder(model, fingerprint=what)


def _modules(place: Path) -> list[dict[str, Any]]:
    file = place / _MODULES
    found = json.loads(file.read_text(encoding="utf-8"))
    if not (isinstance(found, list) and found and all(isinstance(one, dict) for one in found)):
        raise ValueError(f"{file} is not a list of modules")
    if any(Path(str(one.get("path", ""))).is_absolute() or ".." in str(one.get("path", "")) for one in found):
        raise ValueError(f"{file} names a folder outside of {place}")
    return found


def _check_modules(source: Pretrained, place: Path) -> None:
    try:
        types = [str(one.get("type")) for one in _modules(place)]
    except (OSError, ValueError) as error:
        raise ModelLoadError(
            f"{source.asked} is not a model of sentence-transformers ({error}); name one, such as "
            "sentence-transformers/all-MiniLM-L6-v2"
        ) from error
    if foreign := [one for one in types if not one.startswith("sentence_transformers.")]:
        raise ModelLoadError(f"{source.asked} runs code of its own, {foreign[0]}; name a model without")


def _first(place: Path) -> Path:
    return place / str(_modules(place)[0].get("path", ""))
