"""From a checkpoint of transformers to a model with its processor: one architecture, whole, and with what it says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vlgate.errors import ModelLoadError, nearest
from vlgate.models.hub import Pretrained, folder_of, identity, read_config, weights_form
from vlgate.models.hub_loading import load_model, load_processor
from vlgate.models.missing import missing_package

# What a processor is read from: one of the forms each, and all files of a form.
_PARTS = {
    "image processor": (("preprocessor_config.json",), ("processor_config.json",)),
    "vocabulary": (("tokenizer.json",), ("vocab.txt",), ("vocab.json", "merges.txt")),
}
_LEAST_KNOWN = 0.9  # of a model's words; the published tokenizers lack at most the two that BLIP adds


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """What a checkpoint must be.

    ``kind`` is the ``model_type`` of its ``config.json``; ``model`` and ``processor`` are the classes of transformers
    that it is loaded into; ``may_miss`` are regular expressions of the weights that no reply depends on.
    """

    kind: str
    model: str
    processor: str
    may_miss: tuple[str, ...] = ()


def check_local(source: Pretrained, architecture: Architecture) -> None:
    """Look at a local folder's files, but not into its weights; imports no torch. A repository is not looked at.

    Raises: ModelLoadError where files are missing, or it is another architecture.
    """
    if source.local:
        _check_kind(source, architecture)
        weights_form(Path(source.location))
        _check_parts(source)


def _check_kind(source: Pretrained, architecture: Architecture) -> None:
    kind = read_config(source).get("model_type")
    if kind != architecture.kind:
        raise ModelLoadError(
            f"{source.asked} is a model of type {kind!r}; expected {architecture.kind!r}; "
            "name a checkpoint of that architecture, or the model that this one belongs to"
        )


def _check_parts(source: Pretrained) -> None:
    """Without a vocabulary the library makes a tokenizer to which all words are unknown, and says nothing."""
    folder = folder_of(source)
    for what, forms in _PARTS.items():
        if not any(all((folder / name).is_file() for name in form) for form in forms):
            raise ModelLoadError(
                f"{folder} holds no {what}: expected {' or '.join(' with '.join(form) for form in forms)}; "
                "save the processor beside the weights"
            )


def _check_words(source: Pretrained, tokenizer: Any, model: Any) -> None:
    """A tokenizer of another model reads texts as other words, or as words that the model does not have."""
    # BLIP-2's processor adds <image>, which no text is turned into and which its text embeddings lack.
    words = 1 + max(place for word, place in tokenizer.get_vocab().items() if word != "<image>")
    known = next(part for name, part in model.named_modules() if name.endswith("word_embeddings")).num_embeddings
    if not _LEAST_KNOWN * known <= words <= known:
        raise ModelLoadError(
            f"{source.asked}: its tokenizer has {words:,} tokens, its model knows {known:,}; save the tokenizer that "
            "the model was trained with beside the weights"
        )


def loaded(architecture: Architecture, source: Pretrained, *, device: str, dtype: str) -> tuple[Any, Any, str]:
    """Load a checkpoint.

    Returns: the model, its processor (with ``image_processor`` and ``tokenizer``), and what their replies depend on.
    Raises: ModelLoadError.
    """
    try:
        import transformers
    except ModuleNotFoundError as error:
        raise missing_package(error.name or "transformers", "hf") from None

    _check_kind(source, architecture)
    weights_form(folder_of(source))
    _check_parts(source)
    processor = load_processor(getattr(transformers, architecture.processor), source)
    if processor.tokenizer.pad_token_id is None:
        raise ModelLoadError(f"{source.asked}: its tokenizer has no padding token; save it with the model's own")
    cls = getattr(transformers, architecture.model)
    model = load_model(cls, source, device=device, dtype=dtype, may_miss=architecture.may_miss)
    _check_words(source, processor.tokenizer, model)
    # The two image processors of an architecture, of torchvision and of Pillow, differ in the last digits.
    pixels = type(processor.image_processor).__name__
    return model, processor, f"{architecture.model} {identity(source)} {transformers.__version__} {dtype} {pixels}"


def checked_option(name: str, value: str, known: tuple[str, ...]) -> str:
    """Return an option's value.

    Raises: ModelLoadError where it is not one of ``known``.
    """
    if value not in known:
        raise ModelLoadError(f"the option {name}={value!r} is unknown; {nearest(value, known)}")
    return value
