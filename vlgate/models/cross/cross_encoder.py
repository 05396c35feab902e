"""The common parts of cross encoders that read pixels: inputs, rank score, matching head, answers to questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate.asking.image_prefetch import InputsAhead
from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.hub import Pretrained, folder_of, identity, parts_folder, read_config, weights_form
from vlgate.models.checkpoints.inputs import check_prepared, cut_texts, moved, rgb_images, rows_as_keys
from vlgate.models.checkpoints.load_errors import library
from vlgate.models.checkpoints.transformers_loading import classes_of, load_model, load_processor
from vlgate.models.specs import ModelSpec, Options
from vlgate.models.text.text_only import ControlTokens
from vlgate.types import Ask, Attended, FloatArray, LazyImage, Match

if TYPE_CHECKING:
    import torch

# The files of a processor: one of the forms per part, and all files of a form.
_PARTS = {
    "image processor": (("preprocessor_config.json",), ("processor_config.json",)),
    "vocabulary": (("tokenizer.json",), ("vocab.txt",), ("vocab.json", "merges.txt")),
}
# The smallest share of the model's vocabulary that its tokenizer must have. The published tokenizers lack at most two
# words, those that BLIP adds.
_LEAST_KNOWN = 0.9


def check_files(source: Pretrained, spec: ModelSpec) -> None:
    """Check the files of a checkpoint, except the content of its weights. Imports no torch."""
    kind, [expected] = read_config(source).get("model_type"), spec.classes.values()
    if kind != expected:
        raise ModelLoadError(
            f"{source.asked} is a checkpoint of model_type {kind!r}; expected {expected!r}; "
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


def loaded(
    spec: ModelSpec, head: MatchingHead | AnsweringHead, source: Pretrained, *, device: str, dtype: str
) -> tuple[Any, Any, str]:
    transformers, [name] = library("transformers"), spec.classes
    check_files(source, spec)
    processor = load_processor(getattr(transformers, head.processor), source)
    if processor.tokenizer.pad_token_id is None:
        raise ModelLoadError(
            f"{source.asked}: its tokenizer has no padding token; save it with the one that the model was trained with"
        )
    model = load_model(getattr(transformers, name), source, device=device, dtype=dtype, may_miss=head.may_miss)
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
    return model, processor, f"{name} {identity(source)} {transformers.__version__} {dtype} {parts}"


# A matching head is ranked by ``?score=probability``, the default, or ``?score=logit``. VALSE's paper
# ranks by the probability of a match (Parcalabescu et al. 2022, section 4), which orders as the margin of the two
# logits does. Its released script for LXMERT ranks by the raw logit of a match. The two orders differ, because the
# other logit depends on the text too.

OPTION = "score"


@dataclass(frozen=True, slots=True, kw_only=True)
class RankScore:
    match: int | None  # the column of a match among two logits; None for a head with one ranking score
    raw: bool = False  # the logit of a match alone

    def of(self, logits: Any) -> FloatArray:
        """Return scores of shape (n,) for a head's outputs, shape (n, 2), or (n, 1) for a ranking score.

        >>> RankScore(match=1).of([[1.0, 3.0], [2.0, 0.5]]).tolist()
        [2.0, -1.5]
        >>> RankScore(match=1, raw=True).of([[1.0, 3.0], [2.0, 0.5]]).tolist()
        [3.0, 0.5]
        """
        columns = np.asarray(logits, dtype=np.float64)
        if self.match is None:
            return columns[:, 0]
        logits = columns[:, self.match]
        return logits.copy() if self.raw else np.asarray(logits - columns[:, 1 - self.match], dtype=np.float64)

    @property
    def threshold(self) -> float | None:
        """The score above which the head says yes: a margin of 0 is a probability of one half; None for the others."""
        return None if self.match is None or self.raw else 0.0

    @property
    def note(self) -> str:
        if self.match is None:
            return ""
        return "ranks by the raw match logit (VALSE's script)" if self.raw else "ranks by the match probability"

    @property
    def mark(self) -> str:
        return f" {OPTION}=logit" if self.raw else ""


def rank_score(options: Options, match: int | None) -> RankScore:
    if match is None and OPTION in options:
        raise ModelLoadError(
            f"{OPTION}={options[OPTION]!r}: the model's head gives one ranking score, not two logits; leave the option "
            "out"
        )
    return RankScore(match=match, raw=options[OPTION] == "logit")


# A batch is n requests about m distinct images. Each image is prepared once (and encoded once, if the architecture
# allows it), the texts are padded to one length, and a head scores how well image and text fit.

_ALIGNED_AT_ONCE = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    pixels: Mapping[str, torch.Tensor]  # of the image processor: ``pixel_values`` of shape (m, 3, height, width)
    which: torch.Tensor  # the index of the image of each request, shape (n,)
    input_ids: torch.Tensor  # the texts, padded on the right, shape (n, length)
    attention_mask: torch.Tensor
    cut: set[str]  # the texts that lost their end

    def each(self, of_images: torch.Tensor) -> torch.Tensor:
        """Repeat rows of the m images, shape (m, ...), for the n requests, shape (n, ...)."""
        return of_images.index_select(0, self.which)


class Preparation:
    def __init__(self, processor: Any, places: int, model: Any) -> None:
        self.tokenizer = processor.tokenizer
        self.control = ControlTokens(processor.tokenizer)
        self.length = min(places, processor.tokenizer.model_max_length)
        self.device = model.device
        self._images = processor.image_processor
        self._dtype = model.dtype
        self.ahead = InputsAhead(make=self._pixels, device=model.device)

    def inputs(self, images: Sequence[LazyImage], texts: Sequence[str]) -> Inputs:
        import torch

        self.control.check([(text,) for text in texts])
        distinct = {image: index for index, image in enumerate(dict.fromkeys(images))}
        try:
            pixels = self.ahead.of(tuple(distinct))
        except Exception as error:
            check_prepared(error, images, lambda image: self._images(images=[image], return_tensors="pt"))
            raise
        tokens = self.tokens(texts)
        return Inputs(
            pixels=pixels,
            which=torch.tensor([distinct[image] for image in images], device=self.device),
            input_ids=tokens["input_ids"],
            attention_mask=tokens["attention_mask"],
            cut=self.cut(texts) if tokens["input_ids"].shape[1] == self.length else set(),
        )

    def _pixels(self, images: Sequence[LazyImage]) -> Mapping[str, torch.Tensor]:
        made = self._images(images=rgb_images(images), return_tensors="pt")
        pixels = {name: values for name, values in made.items() if name.startswith("pixel_")}
        return {name: moved(values, self.device, self._dtype) for name, values in pixels.items()}

    def cut(self, texts: Sequence[str]) -> set[str]:
        return cut_texts(self.tokenizer, texts, self.length)

    def tokens(self, texts: Sequence[str]) -> Any:
        return self.tokenizer(
            list(texts), padding=True, padding_side="right", truncation=True, max_length=self.length,
            return_tensors="pt",
        ).to(self.device)  # fmt: skip

    def words(self, inputs: Inputs) -> list[list[str]]:
        counts = inputs.attention_mask.sum(dim=1).tolist()
        rows = zip(inputs.input_ids.tolist(), counts, strict=True)
        return [list(self.tokenizer.convert_ids_to_tokens(row[:count])) for row, count in rows]


class PixelModel:
    def __init__(self, prepare: Preparation, *, fingerprint: str) -> None:
        self.fingerprint = fingerprint
        self.cut_texts: set[str] = set()
        self.inputs_ahead = prepare.ahead
        self._prepare = prepare

    def text_keys(self, texts: Sequence[str]) -> list[bytes]:
        self.cut_texts |= self._prepare.cut(texts)
        return rows_as_keys(self._prepare.tokens(texts)["input_ids"])


# Maps of what a model attends to, from the model, the inputs, the tokens and the texts of n requests.
Maps = Callable[[Any, Inputs, list[list[str]], list[str]], list[Attended]]
Logits = Callable[[Any, Inputs], "torch.Tensor"]
"""From the model and the inputs of n requests to logits of shape (n, 2), or (n, 1) for a ranking score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchingHead:
    processor: str
    logits: Logits
    places: Callable[[Any], int]  # the number of token positions in a configuration
    match: int | None  # the column of a match; None for a ranking score
    may_miss: tuple[str, ...] = ()  # regular expressions of weights that no reply depends on
    align: Maps | None = None  # how words align with patches
    roll: Maps | None = None  # the attention through all layers
    begins: Callable[[Any, str], tuple[Logits, str]] | None = None  # ``logits`` and a note for the option ``first``


class CrossEncoder(PixelModel):
    def __init__(self, head: MatchingHead, model: Any, prepare: Preparation, options: Options, what: str) -> None:
        rank, self._logits, note = rank_score(options, head.match), head.logits, ""
        if head.begins is not None:
            self._logits, note = head.begins(model, options["first"])
            what = f"{what} {options['first']}"
        super().__init__(prepare, fingerprint=what + rank.mark)
        self.note = "; ".join(filter(None, (rank.note, note)))
        self.decision_threshold = rank.threshold
        self._head, self._model, self._rank = head, model, rank

    def match(self, pairs: Sequence[Match]) -> FloatArray:
        import torch

        inputs = self._prepare.inputs([pair.image for pair in pairs], [pair.text for pair in pairs])
        with torch.inference_mode():
            scores = self._rank.of(self._logits(self._model, inputs).float().cpu().numpy())
        self.cut_texts |= inputs.cut
        return scores

    def attended(self, pairs: Sequence[Match]) -> list[Attended]:
        return self._maps(pairs, self._head.align)

    def attention_rollout(self, pairs: Sequence[Match]) -> list[Attended]:
        return self._maps(pairs, self._head.roll)

    def _maps(self, pairs: Sequence[Match], of: Maps | None) -> list[Attended]:
        import torch

        maps: list[Attended] = []
        if of is None:
            return maps
        for start in range(0, len(pairs), _ALIGNED_AT_ONCE):
            some = pairs[start : start + _ALIGNED_AT_ONCE]
            texts = [pair.text for pair in some]
            inputs = self._prepare.inputs([pair.image for pair in some], texts)
            with torch.inference_mode():
                maps += of(self._model, inputs, self._prepare.words(inputs), texts)
        return maps


class QuestionAnswerer(PixelModel):
    def answer(self, questions: Sequence[Ask]) -> list[str]:
        import torch

        self._check(questions)
        inputs = self._prepare.inputs(
            [question.image for question in questions], [question.question for question in questions]
        )
        with torch.inference_mode():
            answers = self._replies(inputs, questions)
        self.cut_texts |= inputs.cut
        return answers

    def _check(self, questions: Sequence[Ask]) -> None:
        raise NotImplementedError

    def _replies(self, inputs: Inputs, questions: Sequence[Ask]) -> list[str]:
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweringHead:
    processor: str
    places: Callable[[Any], int]
    answerer: Callable[[Any, Preparation, Options, Path, str], QuestionAnswerer]
    may_miss: tuple[str, ...] = ()
