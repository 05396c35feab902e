"""``volta-*`` and ``vilbert-12-in-1``: matchers on region features, from the files that their authors published."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints import hub
from vlgate.models.checkpoints.device import pick_dtype
from vlgate.models.checkpoints.fingerprint import digest, digest_path
from vlgate.models.checkpoints.load_errors import library
from vlgate.models.checkpoints.whole import read_tensors
from vlgate.models.regions.inputs import RegionInputs, check_regions, load_tokenizer, parts, region_source, text_length
from vlgate.models.regions.region_models import RegionModel
from vlgate.models.regions.volta.config import ANSWERS, ORIGINAL, UNUSED, Config, aliases, shapes
from vlgate.models.regions.volta.encoder import Seen, Weights, logits, with_overall
from vlgate.models.regions.volta.sources import WeightsFile, find
from vlgate.types import FloatArray, Match

if TYPE_CHECKING:
    import torch

_OF_BERT = ("embeddings.", "v_embeddings.", "encoder.", "t_pooler.", "v_pooler.")
_SHOWN = 5


def _fitted(
    config: Config, tensors: Mapping[str, torch.Tensor], where: str, *, unused: Collection[str] = ()
) -> dict[str, torch.Tensor]:
    import torch

    if any(name.startswith(ANSWERS) for name in tensors):
        raise ModelLoadError(f"{where} {ORIGINAL}")
    wanted, second = shapes(config), aliases(config)
    merged = dict(tensors) | {
        first: tensors[name] for name, first in second.items() if name in tensors and first not in tensors
    }
    problems = [f"{name} is missing" for name in wanted if name not in merged]
    problems += [
        f"{name} is of shape {tuple(merged[name].shape)} instead of {shape}"
        for name, shape in wanted.items()
        if name in merged and tuple(merged[name].shape) != shape
    ]
    problems += [
        f"{name} is not in the configuration"
        for name in tensors
        if name not in wanted
        and name not in second
        and not (name.startswith(UNUSED) or name.endswith(".position_ids") or any(part in name for part in unused))
    ]
    if not problems:
        problems = [
            f"{name} differs from {first}, though both are one weight"
            for name, first in second.items()
            if name in tensors and not torch.equal(tensors[name], merged[first])
        ]
    if problems:
        rest = f" and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        raise ModelLoadError(
            f"{where} does not fit its configuration: {'; '.join(problems[:_SHOWN])}{rest}; name the configuration "
            "that it was trained with (config=FILE), or the right model"
        )
    return {name: merged[name] for name in wanted}


# Bugliarello et al. (TACL 2021) and Lu et al. (CVPR 2020). They are on no hub: a user names a file or folder.
class Volta(RegionModel):
    def __init__(self, source: WeightsFile, weights: Weights, inputs: RegionInputs, *, fingerprint: str) -> None:
        super().__init__(inputs, fingerprint=fingerprint + source.rank.mark)
        self._rank = source.rank
        self.decision_threshold = self._rank.threshold
        self._config = source.config
        self._weights = weights
        self._logits: Callable[[Seen], torch.Tensor] = partial(logits, source.config, weights, task=source.task)

    def compile(self) -> None:
        import torch

        self._logits = torch.compile(self._logits)

    @property
    def note(self) -> str:
        return "; ".join(filter(None, (self._inputs.source.note, self._inputs.whose, self._rank.note)))

    def match(self, pairs: Sequence[Match]) -> FloatArray:
        import torch

        tokens, cut = self._inputs.tokens([pair.text for pair in pairs])
        regions = self._inputs.regions([pair.image for pair in pairs])
        with torch.inference_mode():
            features, locations, there = with_overall(
                self._config, regions.features, regions.boxes, regions.mask.bool()
            )
            seen = Seen(
                ids=tokens["input_ids"],
                words=tokens["attention_mask"].bool(),
                features=features.to(self._weights.tensors[f"{self._config.head}.weight"].dtype),
                locations=locations,
                regions=there,
            )
            scores = self._logits(seen).float().cpu().numpy()
        self.cut_texts.update(compress((pair.text for pair in pairs), cut))
        return self._rank.of(scores)


def check(weights: str, folder: Path, *, name: str) -> None:
    source = find(name, weights, folder)
    check_regions(source.options["regions"], folder)
    _ = source.rank


def fetch(weights: str, folder: Path, *, name: str) -> hub.Downloads:
    source = find(name, weights, folder)
    yield from parts(source.beside, source.options, folder)


def build(weights: str, folder: Path, device: str = "cpu", dtype: str = "float32", *, name: str) -> Volta:
    source = find(name, weights, folder)
    torch, transformers = library("torch"), library("transformers")
    config, options, where = source.config, source.options, str(source.file)
    saved = read_tensors(source.file, "a pytorch_model_*.bin that VOLTA saved")
    saved = {tensor.removeprefix("module."): value for tensor, value in saved.items()}  # of data-parallel training
    if not any(tensor.startswith("bert.") for tensor in saved):  # saved without its heads
        saved = {("bert." if tensor.startswith(_OF_BERT) else "") + tensor: value for tensor, value in saved.items()}
    tensors = _fitted(config, source.in_words_of_volta(saved), where, unused=source.unused)
    try:
        placed = Weights({tensor: value.to(device, pick_dtype(dtype)) for tensor, value in tensors.items()})
    except RuntimeError as error:
        raise ModelLoadError(
            f"the weights cannot be moved to device={device!r} ({error}); try another device"
        ) from error
    tokenizer = load_tokenizer(source.beside, folder, options["tokenizer"], config.vocabulary)
    # A multilingual model would accept the 30,522 tokens of the default English BERT, but with other meanings.
    if len(tokenizer) != config.vocabulary:
        raise ModelLoadError(
            f"{where} knows {config.vocabulary} tokens, the tokenizer has {len(tokenizer)}; name the tokenizer that "
            "it was trained with: tokenizer=FOLDER"
        )
    inputs = RegionInputs(
        tokenizer=tokenizer,
        source=region_source(options["regions"], folder, device, width=config.features, count=source.regions),
        length=text_length(options["max_length"], config.longest),
        width=config.features,
        device=torch.device(device),
        dtype=torch.float32,  # half precision is too coarse for the mean, areas, and VL-BERT's waves
        whose=source.whose,
    )
    who = digest(
        name, digest_path(source.file), repr(config), str(source.task), inputs.fingerprint, dtype,
        torch.__version__, transformers.__version__,
    )  # fmt: skip
    return Volta(source, placed, inputs, fingerprint=who)
