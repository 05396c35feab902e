"""Judges of captions and foils: entailment, plausibility, grammaticality and sentence similarity."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from vlgate.errors import ModelLoadError, NoReplyError
from vlgate.models.checkpoints.hub import Pretrained, folder_of, identity, pretrained
from vlgate.models.checkpoints.load_errors import damaged, library, one_line
from vlgate.models.checkpoints.transformers_loading import load_model, no_bars
from vlgate.models.specs import split_options
from vlgate.models.text import language_models
from vlgate.models.text.text_only import ENDLESS, loaded, log_probabilities, longest_text
from vlgate.types import FloatArray

BATCH = 64  # texts per forward pass


def by_length(lengths: Sequence[int], size: int = BATCH) -> Iterator[list[int]]:
    """Yield batches of positions, the longest first, so that a lack of memory shows at once."""
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    for start in range(0, len(order), size):
        yield order[start : start + size]


def scored(texts: Sequence[Any], columns: int, score: Callable[[list[Any]], FloatArray]) -> FloatArray:
    """The scores of items in the order of ``texts``, shape (n, columns), each distinct one scored once."""
    distinct = list(dict.fromkeys(texts))
    lengths = [len(text) if isinstance(text, str) else sum(map(len, text)) for text in distinct]
    found = np.zeros((len(distinct), columns))
    for places in by_length(lengths):
        found[places] = score([distinct[place] for place in places])
    place_of = {text: index for index, text in enumerate(distinct)}
    return np.asarray(found[[place_of[text] for text in texts]].reshape(len(texts), columns), dtype=np.float64)


class Classifier:
    meanings: tuple[tuple[str, ...], ...] = ()  # of the labels, by their beginnings

    @classmethod
    def load(cls, weights: str, folder: Path, device: str, dtype: str) -> Self:
        name, chosen = split_options(weights, ("labels",))
        source = pretrained(name, folder)
        model, tokenizer, what = loaded(source, "AutoModelForSequenceClassification", device, dtype)
        asked = source.asked
        if tokenizer.pad_token_id is None:
            raise ModelLoadError(f"{asked}: its tokenizer has no padding token; save it with the model's own one")
        labels = [model.config.id2label[index] for index in range(model.config.num_labels)]
        if "labels" in chosen:
            given, many = chosen["labels"].split(","), len(labels)
            if len(given) != many:
                named = f"labels={chosen['labels']!r} names {len(given)} labels"
                raise ModelLoadError(f"{asked}: {named}, but the model has {many}")
            labels = given
        places = [
            [index for index, label in enumerate(labels) if label.strip().lower().startswith(beginnings)]
            for beginnings in cls.meanings
        ]
        if len(labels) != len(cls.meanings) or any(len(some) != 1 for some in places):
            names = ",".join(beginnings[0] for beginnings in cls.meanings)
            raise ModelLoadError(
                f"{asked} has the labels {', '.join(labels)}; expected {names}; name another model, or say what its "
                f"labels are, in its order: {asked}?labels={names}"
            )
        return cls(model, tokenizer, columns=[place for [place] in places], fingerprint=f"{what} {','.join(labels)}")

    def __init__(self, model: Any, tokenizer: Any, *, columns: Sequence[int], fingerprint: str) -> None:
        self.fingerprint = fingerprint
        self.cut_texts: set[str | tuple[str, str]] = set()
        self._model = model
        self._tokenizer = tokenizer
        self._columns = list(columns)
        self._longest = longest_text(model, tokenizer, ENDLESS)

    def infer(self, texts: Sequence[str] | Sequence[tuple[str, str]]) -> FloatArray:
        return scored(texts, len(self._columns), self._batch)

    def _batch(self, texts: list[Any]) -> FloatArray:
        import torch

        rows = self._tokenizer(texts, truncation=False, verbose=False)["input_ids"]
        self.cut_texts.update(text for text, row in zip(texts, rows, strict=True) if len(row) > self._longest)
        limits = {"truncation": True, "max_length": self._longest} if self._longest < ENDLESS else {}
        inputs = self._tokenizer(texts, padding=True, return_tensors="pt", **limits).to(self._model.device)
        with torch.inference_mode():
            likely = log_probabilities(self._model(**inputs).logits)
        return np.exp(np.asarray(likely.cpu().numpy(), dtype=np.float64))[:, self._columns]


PAPER = "ynie/albert-xxlarge-v2-snli_mnli_fever_anli_R1_R2_R3-nli"  # the model of VALSE (section 4.3)


class EntailmentModel(Classifier):
    meanings = (("entail",), ("neutral",), ("contradict",))  # of pairs of a premise and a hypothesis


def entailment(weights: str, device: str = "cpu", *, folder: Path = Path(), dtype: str = "float32") -> EntailmentModel:
    return EntailmentModel.load(weights or PAPER, folder, device, dtype)


class Plausibility:
    def __init__(self, model: language_models.Causal | language_models.Masked) -> None:
        self.fingerprint = model.fingerprint
        self._model = model

    def perplexity(self, texts: Sequence[str]) -> FloatArray:
        found = np.zeros(len(texts))
        short: list[int] = []
        why = ""
        for places in by_length([len(text) for text in texts]):
            try:
                found[places] = self._model.perplexity([texts[place] for place in places])
            except NoReplyError as error:
                short += [places[position] for position in error.positions]
                why = str(error)
        if short:
            raise NoReplyError(short, why)
        return found


def plausibility(weights: str, device: str = "cpu", *, folder: Path = Path(), dtype: str = "float32") -> Plausibility:
    kind, _, name = weights.partition(":")
    if kind == "masked" and name:
        return Plausibility(language_models.build_masked(name, folder, device=device, dtype=dtype))
    return Plausibility(language_models.build(weights, folder, device=device, dtype=dtype))


# Grammaticality: a classifier trained on CoLA, and the likelihood of a text against that of its original. GRUEN (Zhu
# and Bhat 2020), which VALSE applies, adds the two for each sentence. Its sum depends on the models that it was tuned
# for, so the parts are given here on their own, each in 0..1.
class Acceptability(Classifier):
    """A classifier of unacceptable and acceptable sentences, as those trained on CoLA (Warstadt et al. 2019)."""

    meanings = (("unacceptable", "ungrammatical"), ("acceptable", "grammatical"))

    def acceptability(self, texts: Sequence[str]) -> FloatArray:
        # the probability that each text is acceptable, shape (n,)
        return np.asarray(self.infer(texts)[:, 1], dtype=np.float64)


class Likelihood:
    def __init__(self, model: Plausibility) -> None:
        self._model = model

    def acceptability(self, texts: Sequence[str]) -> FloatArray:
        return np.asarray(1 / self._model.perplexity(texts), dtype=np.float64)

    def against(self, originals: Sequence[str], texts: Sequence[str]) -> FloatArray:
        """How likely each text is in proportion to its original, which somebody wrote; at most 1, shape (n,)."""
        # A foil much less likely than its caption may be ungrammatical.
        if len(originals) != len(texts):
            raise NoReplyError((), f"{len(originals)} originals for {len(texts)} texts; give one for each")
        both = self._model.perplexity([*originals, *texts])
        return np.asarray(np.minimum(1, both[: len(texts)] / both[len(texts) :]), dtype=np.float64)


def grammaticality(
    weights: str, device: str = "cpu", *, folder: Path = Path(), dtype: str = "float32"
) -> Acceptability | Likelihood:
    kind, _, name = weights.partition(":")
    if kind == "likelihood" and name:
        return Likelihood(plausibility(name, device, folder=folder, dtype=dtype))
    return Acceptability.load(weights, folder, device, dtype)


_MODULES = "modules.json"
_POOLER = (r"pooler\..*",)  # models that pool in another way are published without it


class SentenceEncoder:
    def __init__(self, model: Any, *, fingerprint: str) -> None:
        self.fingerprint = fingerprint
        self._model = model

    def encode(self, texts: Sequence[str]) -> FloatArray:
        if not texts:
            return np.zeros((0, self._model.get_embedding_dimension()))
        found = self._model.encode(list(texts), batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(found, dtype=np.float64)


def similarity(weights: str, device: str = "cpu", *, folder: Path = Path(), dtype: str = "float32") -> SentenceEncoder:
    # No code of the repository is run, and only modules of sentence-transformers itself are taken.
    sentence_transformers, transformers = library("sentence_transformers", "text"), library("transformers", "text")
    source = pretrained(weights, folder)
    place = folder_of(source)
    first = _first_module(source, place)
    of_first = replace(source, location=str(first), local=True)
    load_model(transformers.AutoModel, of_first, device="cpu", dtype=dtype, may_miss=_POOLER)
    settings = {"dtype": dtype, "use_safetensors": any(first.glob("*.safetensors"))}
    try:
        with no_bars():
            model = sentence_transformers.SentenceTransformer(
                str(place), device=device, local_files_only=True, trust_remote_code=False, model_kwargs=settings
            )
    except damaged() as error:
        raise ModelLoadError(f"{source.asked} cannot be loaded ({one_line(error)}); download it again") from error
    what = f"{identity(source)} {sentence_transformers.__version__} {transformers.__version__} {dtype}"
    return SentenceEncoder(model, fingerprint=what)


def _first_module(source: Pretrained, place: Path) -> Path:
    file = place / _MODULES
    modules: object = []
    problem = f"{file} is not a list of modules"
    try:
        modules = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        problem = str(error)
    if isinstance(modules, list) and modules and all(isinstance(module, dict) for module in modules):
        paths = [Path(str(module.get("path", ""))) for module in modules]
        outside = any(path.is_absolute() or ".." in str(path) for path in paths)
        problem = f"{file} names a folder outside of {place}" if outside else ""
    if problem or not isinstance(modules, list):
        raise ModelLoadError(
            f"{source.asked} is not a model of sentence-transformers ({problem}); name one, such as "
            "sentence-transformers/all-MiniLM-L6-v2"
        )
    types = [str(module.get("type")) for module in modules]
    if foreign := [name for name in types if not name.startswith("sentence_transformers.")]:
        raise ModelLoadError(f"{source.asked} runs code of its own, {foreign[0]}; name a model without")
    return place / paths[0]
