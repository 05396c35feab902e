"""The inputs of a model on region features: texts as tokens, images as boxes from a detector or from files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate.errors import ModelLoadError, ModelReplyError
from vlgate.models.checkpoints import hub
from vlgate.models.checkpoints.fingerprint import digest, expanded
from vlgate.models.checkpoints.transformers_loading import load_processor
from vlgate.models.regions.regions import COUNT, WIDTH, Float32, RegionSource
from vlgate.models.specs import Options
from vlgate.models.text.text_only import ControlTokens, padded
from vlgate.types import FloatArray, LazyImage

if TYPE_CHECKING:
    import torch


def check_regions(spec: str, folder: Path) -> None:
    from vlgate.models.regions.feature_file import is_features

    path = expanded(spec, folder)
    if spec and not path.is_dir() and not (path.exists() and is_features(path)):
        problem = "is not a file of features" if path.exists() else "is not there"
        forms = "a .tsv in LXMERT's format, an LMDB in VOLTA's, a file of vlgate features"
        raise ModelLoadError(f"regions={spec!r}: {path} {problem}; expected {forms}, or a detector's folder")


def region_source(
    spec: str, folder: Path, device: str, *, width: int | None = WIDTH, count: int | None = COUNT
) -> RegionSource:
    """Open a detector ("": the published one) or features; ``width``: numbers per box, ``count``: boxes; None: any."""
    from vlgate.models.regions.feature_file import feature_file, is_features

    check_regions(spec, folder)
    path = expanded(spec, folder)
    if spec and is_features(path):
        return feature_file(path, width=width, count=count)
    from vlgate.models.regions.detector import detector_source

    return detector_source(spec, folder, device, width=width, count=count)


def parts(source: hub.Pretrained, options: Options, folder: Path, *, detector: bool = True) -> hub.Downloads:
    """Yield what fetches the tokenizer of a checkpoint that is here, and the detector unless features are named."""
    from vlgate.models.regions.feature_file import is_features

    regions = options["regions"]
    if hub.here(source) is not None:
        yield lambda: tokenizer_source(source, folder, options["tokenizer"])
    if detector and not (regions and is_features(expanded(regions, folder))):
        from vlgate.models.regions.detector import detector_folder

        yield lambda: detector_folder(regions, folder)


BERT = "google-bert/bert-base-uncased"
"""LXMERT and VisualBERT were trained with its tokenizer; VisualBERT's repositories hold none of their own."""
_VOCABULARIES = ("tokenizer.json", "vocab.txt")
_PADDED = 64  # an embedding may be padded to a multiple of this; the cased BERT's is shorter by 1,526
SHORTEST = 4  # the least tokens that a text may be cut to: its two ends, a mask, and one word


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenRegions:
    """The regions of n images, on the model's device, padded on the right to the most boxes m among them."""

    features: torch.Tensor  # of shape (n, m, d)
    boxes: torch.Tensor  # of shape (n, m, 4), x1, y1, x2, y2 in 0..1
    mask: torch.Tensor  # of shape (n, m): 1 for a box, 0 for padding


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionInputs:
    tokenizer: Any
    source: RegionSource
    length: int  # the most tokens of a text, both ends included
    width: int  # the numbers per box
    device: torch.device
    dtype: torch.dtype
    suffix: tuple[int, ...] = ()  # the tokens before a text's last one, which are never cut
    whose: str = ""  # the detectors that give regions of this width
    trained: int | None = None  # the most tokens of a text in training; None for the whole context

    @property
    def fingerprint(self) -> str:
        return digest(
            self.source.fingerprint, self.tokenizer.backend_tokenizer.to_str(), str(self.length), str(self.suffix)
        )

    def text_keys(self, texts: Sequence[str]) -> tuple[list[tuple[int, ...]], list[bool]]:
        rows, cut = self._rows(texts)
        return [tuple(row) for row in rows], cut

    def tokens(self, texts: Sequence[str]) -> tuple[dict[str, torch.Tensor], list[bool]]:
        import torch

        ControlTokens(self.tokenizer).check([(text,) for text in texts])
        rows, cut = self._rows(texts)
        ids, mask = padded(rows, self.device, self.tokenizer.pad_token_id)
        return {"input_ids": ids, "attention_mask": mask, "token_type_ids": torch.zeros_like(ids)}, cut

    def _rows(self, texts: Sequence[str]) -> tuple[list[list[int]], list[bool]]:
        room = self.length - len(self.suffix)
        # The tokenizer would warn about texts that are too long; the second result reports them instead.
        whole = self.tokenizer(list(texts), truncation=False, verbose=False)["input_ids"]
        return [[*row[:-1][: room - 1], *self.suffix, row[-1]] for row in whole], [len(row) > room for row in whole]

    def regions(self, images: Sequence[LazyImage]) -> SeenRegions:
        import torch

        seen = dict(zip(images, self.source.regions(images), strict=True))
        for image, regions in seen.items():
            if regions.features.shape[-1] != self.width:
                problem = f"{regions.features.shape[-1]} numbers per box, the model takes {self.width}"
                says = "; ".join(filter(None, (self.source.note, self.whose, "name others with regions=FILE")))
                raise ModelReplyError(f"the region features of {image.key!r} have {problem}; {says}")
        places = {image: index for index, image in enumerate(seen)}
        order = torch.tensor([places[image] for image in images], device=self.device)
        most = max(len(regions.boxes) for regions in seen.values())

        def tensor(rows: Sequence[Float32]) -> torch.Tensor:
            padded = [np.pad(row, ((0, most - len(row)), (0, 0))) if len(row) < most else row for row in rows]
            return torch.from_numpy(np.stack(padded)).to(self.device, self.dtype)[order]

        counts = torch.tensor([len(regions.boxes) for regions in seen.values()], device=self.device)
        return SeenRegions(
            features=tensor([regions.features for regions in seen.values()]),
            boxes=tensor([regions.boxes for regions in seen.values()]),
            mask=(torch.arange(most, device=self.device) < counts[:, None]).long()[order],
        )

    def boxes(self, images: Sequence[LazyImage]) -> list[FloatArray]:
        return [np.asarray(regions.boxes, dtype=np.float64) for regions in self.source.regions(images)]


def load_tokenizer(source: hub.Pretrained, folder: Path, asked: str, vocabulary: int) -> Any:
    import transformers

    place = tokenizer_source(source, folder, asked)
    tokenizer = load_processor(transformers.AutoTokenizer, place)
    ends = tokenizer("")["input_ids"]
    special = (tokenizer.pad_token_id, tokenizer.mask_token_id)
    if len(ends) != 2 or None in (*ends, *special) or not hasattr(tokenizer, "backend_tokenizer"):
        raise ModelLoadError(
            f"the tokenizer of {place.asked} is not BERT's: expected [CLS], [SEP], [PAD] and [MASK]; name another "
            "with tokenizer=FOLDER"
        )
    if not vocabulary - _PADDED < len(tokenizer) <= vocabulary:
        raise ModelLoadError(
            f"the tokenizer of {place.asked} has {len(tokenizer)} tokens, the model {source.asked} knows {vocabulary}; "
            "name the one that it was trained with: tokenizer=FOLDER"
        )
    return tokenizer


def tokenizer_source(source: hub.Pretrained, folder: Path, asked: str) -> hub.Pretrained:
    place = hub.pretrained(asked, folder, default=BERT) if asked or not _has_tokenizer(source) else source
    try:
        # Without a vocabulary the library silently makes a tokenizer to which all words are unknown.
        why = "" if _has_tokenizer(place) else f"{hub.folder_of(place)} holds none of {', '.join(_VOCABULARIES)}"
    except ModelLoadError as error:
        why = str(error)
    if why:
        remedy = "save a tokenizer beside the weights, or name one with tokenizer=FOLDER"
        raise ModelLoadError(f"no tokenizer for {source.asked}: {why}; {remedy}")
    return place


def _has_tokenizer(source: hub.Pretrained) -> bool:
    folder = hub.folder_of(source)
    return any((folder / name).is_file() for name in _VOCABULARIES)


def text_length(asked: str, context: int) -> int:
    if not asked:
        return context
    if not asked.isascii() or not asked.isdecimal() or not SHORTEST <= int(asked) <= context:
        raise ModelLoadError(f"max_length={asked!r}: expected a whole number of tokens from {SHORTEST} to {context}")
    return int(asked)
