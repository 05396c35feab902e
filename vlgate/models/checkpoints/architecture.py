"""Load a checkpoint of one architecture of transformers with its processor, after checking that it is complete."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.hub import Pretrained, folder_of, identity, parts_folder, read_config, weights_form
from vlgate.models.checkpoints.load_errors import library
from vlgate.models.checkpoints.transformers_loading import classes_of, load_model, load_processor

# The files of a processor: one of the forms per part, and all files of a form.
_PARTS = {
    "image processor": (("preprocessor_config.json",), ("processor_config.json",)),
    "vocabulary": (("tokenizer.json",), ("vocab.txt",), ("vocab.json", "merges.txt")),
}
# The smallest share of the model's vocabulary that its tokenizer must have. The published tokenizers lack at most two
# words, those that BLIP adds.
_LEAST_KNOWN = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """The architecture that a checkpoint must have."""

    kind: str  # the ``model_type`` in its ``config.json``
    model: str  # the class of transformers
    processor: str
    may_miss: tuple[str, ...] = ()  # regular expressions of weights that no reply depends on


def check_local(source: Pretrained, architecture: Architecture) -> None:
    if source.local:
        _check_files(source, architecture)


def _check_files(source: Pretrained, architecture: Architecture) -> None:
    """Check the files of a checkpoint, except the content of its weights. Imports no torch."""
    kind = read_config(source).get("model_type")
    if kind != architecture.kind:
        raise ModelLoadError(
            f"{source.asked} is a checkpoint of model_type {kind!r}; expected {architecture.kind!r}; "
            "name a checkpoint of that architecture, or another --model"
        )
    weights_form(folder_of(source))
    # Without a vocabulary, transformers silently makes a tokenizer that maps every word to "unknown".
    folder = parts_folder(source)
    for what, forms in _PARTS.items():
        if not any(all((folder / name).is_file() for name in form) for form in forms):
            raise ModelLoadError(
                f"{folder} has no {what}: expected {' or '.join(' with '.join(form) for form in forms)}; "
                "save the processor into the folder of the weights"
            )


def loaded(architecture: Architecture, source: Pretrained, *, device: str, dtype: str) -> tuple[Any, Any, str]:
    transformers = library("transformers")
    _check_files(source, architecture)
    processor = load_processor(getattr(transformers, architecture.processor), source)
    if processor.tokenizer.pad_token_id is None:
        raise ModelLoadError(
            f"{source.asked}: its tokenizer has no padding token; save it with the one that the model was trained with"
        )
    cls = getattr(transformers, architecture.model)
    model = load_model(cls, source, device=device, dtype=dtype, may_miss=architecture.may_miss)
    # A tokenizer of another model would read texts as other words, or as words that the model does not have.
    # <image>, which BLIP-2's processor adds, does not count: no text contains it, and the text embeddings lack it.
    words = 1 + max(place for word, place in processor.tokenizer.get_vocab().items() if word != "<image>")
    known = next(part for name, part in model.named_modules() if name.endswith("word_embeddings")).num_embeddings
    if not _LEAST_KNOWN * known <= words <= known:
        raise ModelLoadError(
            f"{source.asked}: its tokenizer has {words:,} tokens, but its model has embeddings for {known:,}; save the "
            "tokenizer that the model was trained with into the folder of the weights"
        )
    parts = classes_of(processor)
    return model, processor, f"{architecture.model} {identity(source)} {transformers.__version__} {dtype} {parts}"
