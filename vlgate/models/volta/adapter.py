"""``volta-*`` and ``vilbert-12-in-1``: matchers on region features, from the files that their authors published.

Bugliarello et al. (TACL 2021) and Lu et al. (CVPR 2020). Nothing of them is on a hub: a user names a file or folder.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vlgate.errors import ModelLoadError
from vlgate.models import hub
from vlgate.models.device import pick_dtype
from vlgate.models.fingerprint import digest, digest_path
from vlgate.models.matching import margin
from vlgate.models.missing import missing_package
from vlgate.models.region_inputs import RegionInputs, load_tokenizer, text_length
from vlgate.models.regions import check_regions, region_source
from vlgate.models.volta.config import ALIGNMENT, Config
from vlgate.models.volta.embeddings import Seen, with_overall
from vlgate.models.volta.encoder import Weights
from vlgate.models.volta.heads import MATCH, logits
from vlgate.models.volta.sources import VILBERT_MT, Source, find
from vlgate.models.volta.weights import fitted, placed, read
from vlgate.types import FloatArray, Match

if TYPE_CHECKING:
    import torch


class Volta:
    """A model of VOLTA's family as a matcher.

    ``decision_threshold`` is 0 where the head tells a match from none, None where it ranks. ``cut_texts`` holds
    the texts so far that lost their end.
    """

    def __init__(self, config: Config, weights: Weights, inputs: RegionInputs, *, task: int, fingerprint: str) -> None:
        """Take a model, what makes its inputs (in float32), and the task that it is told."""
        self.fingerprint = fingerprint
        self.cut_texts: set[str] = set()
        self.decision_threshold = 0.0 if config.head == ALIGNMENT else None
        self._config = config
        self._weights = weights
        self._inputs = inputs
        self._logits: Callable[[Seen], torch.Tensor] = partial(logits, config, weights, task=task)

    def compile(self) -> None:
        """Let ``torch.compile`` have the whole of it, in place."""
        import torch

        self._logits = torch.compile(self._logits)

    @property
    def note(self) -> str:
        """What a reader of the results must know."""
        return "; ".join(filter(None, (self._inputs.source.note, self._inputs.whose)))

    def match(self, pairs: Sequence[Match]) -> FloatArray:
        """Score pairs: the logit of a match less that of none, or the rank.

        Returns: scores of shape (n,).
        Raises: PictureError or NoReplyError where a picture has no regions.
        """
        import torch

        with torch.inference_mode():
            seen, cut = self._seen(pairs)
            scores = self._logits(seen).float().cpu().numpy()
        self.cut_texts.update(compress((pair.text for pair in pairs), cut))
        return margin(scores, MATCH if self._config.head == ALIGNMENT else None)

    def _seen(self, pairs: Sequence[Match]) -> tuple[Seen, list[bool]]:
        tokens, cut = self._inputs.tokens([pair.text for pair in pairs])
        found = self._inputs.regions([pair.picture for pair in pairs])
        features, locations, there = with_overall(self._config, found.features, found.boxes, found.mask.bool())
        precision = self._weights.tensors[f"{self._config.head}.weight"].dtype
        seen = Seen(
            ids=tokens["input_ids"],
            words=tokens["attention_mask"].bool(),
            features=features.to(precision),
            locations=locations,
            regions=there,
        )
        return seen, cut


def _built(name: str, weights: str, folder: Path, device: str, dtype: str) -> Volta:
    source = find(name, weights, folder)
    try:
        import torch
        import transformers
    except ModuleNotFoundError as error:
        raise missing_package(error.name or "torch", "hf") from error

    tensors = fitted(source.config, source.in_words_of_volta(read(source.file)), str(source.file), unused=source.unused)
    model = placed(tensors, device, pick_dtype(dtype))
    inputs = _inputs(source, folder, device, dtype)
    who = digest(
        name, digest_path(source.file), repr(source.config), str(source.task), inputs.fingerprint, dtype,
        torch.__version__, transformers.__version__,
    )  # fmt: skip
    return Volta(source.config, model, inputs, task=source.task, fingerprint=who)


def _inputs(source: Source, folder: Path, device: str, dtype: str) -> RegionInputs:
    import torch

    beside = hub.Pretrained(asked=str(source.file), location=str(source.file.parent), revision=None, local=True)
    config, options = source.config, source.options
    return RegionInputs(
        tokenizer=_tokenizer(beside, folder, options.get("tokenizer", ""), config.vocabulary),
        source=region_source(
            options.get("regions", ""), folder, device, dtype, width=config.features, count=source.regions
        ),
        length=text_length(options.get("max_length", ""), config.longest),
        width=config.features,
        device=torch.device(device),
        dtype=torch.float32,  # the mean, the areas and VL-BERT's waves of the boxes are not for half precision
        whose=source.whose,
    )


def _tokenizer(beside: hub.Pretrained, folder: Path, asked: str, vocabulary: int) -> Any:
    tokenizer = load_tokenizer(beside, folder, asked, vocabulary)
    # A model for many languages would take the 30,522 tokens of the English BERT that stands in, and mean others.
    if len(tokenizer) != vocabulary:
        raise ModelLoadError(
            f"{beside.asked} knows {vocabulary} tokens, the tokenizer has {len(tokenizer)}; name the one that it was "
            "trained with: tokenizer=FOLDER"
        )
    return tokenizer


def _builder(name: str) -> Callable[[str, Path, str, str, int], Volta]:
    def build(
        weights: str,
        folder: Path,
        device: str = "cpu",
        dtype: str = "float32",
        seed: int = 0,  # noqa: ARG001  # every model is offered one
    ) -> Volta:
        """Load the model.

        Args:
            weights: a file or folder, with options; see ``sources.find``.
            folder: where the user started.
            device: a name that ``torch.device`` takes.
            dtype: ``float32``, ``float16`` or ``bfloat16``.
            seed: makes no difference.

        Raises: ModelLoadError, which says what was looked for, where, and what to do.
        """
        return _built(name, weights, folder, device, dtype)

    return build


def _checker(name: str) -> Callable[[str, Path], None]:
    def check(weights: str, folder: Path) -> None:
        """Say whether the files are there and the configuration is one; imports no torch.

        Raises: ModelLoadError.
        """
        check_regions(find(name, weights, folder).options.get("regions", ""), folder)

    return check


vilbert, check_vilbert = _builder("volta-vilbert"), _checker("volta-vilbert")
lxmert, check_lxmert = _builder("volta-lxmert"), _checker("volta-lxmert")
uniter, check_uniter = _builder("volta-uniter"), _checker("volta-uniter")
vl_bert, check_vl_bert = _builder("volta-vl-bert"), _checker("volta-vl-bert")
visualbert, check_visualbert = _builder("volta-visualbert"), _checker("volta-visualbert")
vilbert_12_in_1, check_vilbert_12_in_1 = _builder(VILBERT_MT), _checker(VILBERT_MT)
