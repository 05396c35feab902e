"""``open_clip:ARCH/TAG``: the dual encoders of open_clip (CLIP, SigLIP, CoCa and relatives)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vlgate.asking.image_prefetch import InputsAhead
from vlgate.models.attention import FRAMES, Encoders, grad_cams, last_grid
from vlgate.models.checkpoints.device import pick_dtype
from vlgate.models.checkpoints.hub import Downloads
from vlgate.models.checkpoints.inputs import moved, prepared, rows_as_keys
from vlgate.models.checkpoints.load_errors import library
from vlgate.models.dual import open_clip_weights as parts
from vlgate.models.dual.features import TRIED, CosineModel, apart, in_groups, told, unit_rows
from vlgate.types import Attended, FloatArray, LazyImage, Match

if TYPE_CHECKING:
    import torch
    from PIL.Image import Image


class OpenClip(CosineModel):
    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        prepare: Callable[[Image], torch.Tensor],
        *,
        dtype: str,
        note: str,
        fingerprint: str,
    ) -> None:
        super().__init__(model, tokenizer, fingerprint=fingerprint, note=note)
        self._prepare = prepare
        self._device = next(model.parameters()).device
        self._dtype = pick_dtype(dtype)
        self._positions = _positions(model)
        self.inputs_ahead = InputsAhead(make=self._pixels, device=self._device)
        self._padding: int | None = None  # the token that fills up short texts; None as long as they are not cut

    @property
    def aspect(self) -> str:
        frames = {"squash": "stretched", "longest": "padded"}
        return frames.get(self._model.visual.preprocess_cfg.get("resize_mode", ""), "cropped")

    def encode_images(self, images: Sequence[LazyImage]) -> FloatArray:
        import torch

        with torch.inference_mode():
            return unit_rows(self._model.encode_image(self.inputs_ahead.of(tuple(images)), normalize=False))

    def _pixels(self, images: Sequence[LazyImage]) -> torch.Tensor:
        import torch

        return moved(torch.stack(prepared(images, self._prepare)), self._device, self._dtype)

    def _features_of(self, texts: Sequence[str]) -> torch.Tensor:
        import torch

        tokens = self._tokens(texts)
        if not self.reading and not self._positions:
            self.reading = told("its text encoder is not a causal one that is read at the end token")
        elif not self.reading:
            tried = self._tokenizer(list(TRIED))
            padding = int(self._tokenizer([""])[0, -1])
            rows = zip(tried, self._lengths(tried, padding), strict=True)
            difference = apart(
                self._encoded(tried), lambda: torch.cat([self._encoded(row[None, :length]) for row, length in rows])
            )
            self.reading = told(difference)
            self._padding = None if isinstance(difference, str) else padding
        if self._padding is None:
            return self._encoded(tokens)
        lengths = self._lengths(tokens, self._padding)
        return in_groups(lengths, self._device.type, lambda places, longest: self._encoded(tokens[places, :longest]))

    def _lengths(self, tokens: torch.Tensor, padding: int) -> list[int]:
        import torch

        last: list[int] = ((tokens != padding) * torch.arange(1, tokens.shape[1] + 1)).amax(dim=1).tolist()
        return last

    def _encoded(self, tokens: torch.Tensor) -> torch.Tensor:
        from torch.func import functional_call

        length = tokens.shape[1]
        # A mask is of shape (context, context), positions are of shape (context, d).
        short = {
            f"model.{name}": whole[:length, :length] if name.endswith("attn_mask") else whole[:length]
            for name, whole in self._positions.items()
        }
        # tie_weights looks for further names of the same tensor, in 0.3 ms; what is replaced here has one name.
        features: torch.Tensor = functional_call(
            _encoder(self._model), short, (tokens.to(self._device),), tie_weights=False
        )
        return features

    def text_keys(self, texts: Sequence[str]) -> list[bytes]:
        return rows_as_keys(self._tokens(texts))

    def attended(self, pairs: Sequence[Match]) -> list[Attended]:
        encoders = Encoders(
            grid=last_grid(self._model.visual),
            frame=FRAMES[self.aspect],
            prepare=self._pixels,
            encode_images=lambda images: self._model.encode_image(images, normalize=False),
            encode_texts=lambda texts: self._model.encode_text(self._tokens(texts).to(self._device), normalize=False),
        )
        return grad_cams(pairs, encoders)

    def _tokens(self, texts: Sequence[str]) -> torch.Tensor:
        tokens: torch.Tensor = self._tokenizer(list(texts))
        self.cut_texts.update(compress(texts, _cut_off(self._tokenizer, texts, tokens)))
        return tokens


def _positions(model: Any) -> Mapping[str, torch.Tensor]:
    """What a causal text encoder that is read at the end token has for each position, by name; empty for others."""
    import torch

    inner = getattr(model, "text", model)
    mask = getattr(inner, "attn_mask", None)
    pool = getattr(inner, "text_pool_type", getattr(inner, "pool_type", ""))
    if mask is None or pool not in {"argmax", "eos"} or getattr(inner, "cls_emb", None) is not None:
        return {}
    if not torch.equal(mask, torch.full_like(mask, -float("inf")).triu(1)):
        return {}
    names = {"attn_mask": mask}
    if inner is model:  # TextTransformer takes the first positions by itself
        names["positional_embedding"] = model.positional_embedding
    prefix = "" if inner is model else "text."
    return {prefix + name: whole for name, whole in names.items()}


def _encoder(model: Any) -> Any:
    """The text encoder of a model as a module of its own, because ``functional_call`` calls a whole module."""
    from torch import nn

    class Encoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, tokens: torch.Tensor) -> torch.Tensor:
            features: torch.Tensor = self.model.encode_text(tokens, normalize=False)
            return features

    return Encoder()


def _cut_off(tokenizer: Any, texts: Sequence[str], tokens: torch.Tensor) -> list[bool]:
    """Return which texts were cut: those whose tokens would change if the context were one longer."""
    length = tokens.shape[1]
    if getattr(tokenizer, "tokenizer_mode", "") == "clips":  # every row ends with a class token, however short the text
        return _differ(tokenizer(list(texts), context_length=length + 1), tokens, length - 1)
    # Only a text that fills the context can have lost its end. Its last token may be that of the padding (SigLIP).
    full: list[bool] = (tokens[:, -2:] != tokenizer([""])[0, -1]).any(dim=1).tolist()
    long = list(compress(texts, full))
    wide = iter(_differ(tokenizer(long, context_length=length + 1), tokens[full], length) if long else ())
    return [filled and next(wide) for filled in full]


def _differ(wide: torch.Tensor, tokens: torch.Tensor, length: int) -> list[bool]:
    differ: list[bool] = (wide[:, :length] != tokens[:, :length]).any(dim=1).tolist()
    return differ


def check(weights: str, folder: Path) -> None:
    parts.parse(weights, folder)


def fetch(weights: str, folder: Path) -> Downloads:
    source = parts.parse(weights, folder)
    if source.kind in {"tag", "hub"}:
        yield lambda: parts.weights_file(source)


def build(weights: str, folder: Path, device: str = "cpu", dtype: str = "float32", seed: int = 0) -> OpenClip:
    source, open_clip = parts.parse(weights, folder), library("open_clip", "clip")
    file = parts.weights_file(source)
    # before open_clip opens the file, so that no code in it is run
    sizes = parts.shapes(file) if file is not None else {}
    parts.refuse_code(source)
    model = parts.create(source, file, device=device, dtype=dtype, seed=seed)
    parts.check_sizes(source, sizes, model)
    random = f"untrained on purpose, with random weights from seed {seed}" if source.kind == "random" else ""
    return OpenClip(
        model,
        parts.tokenizer_of(source),
        parts.transform_of(source, model),
        dtype=dtype,
        note=random or parts.assumptions(source),
        fingerprint=f"{parts.identity(source, file, seed)} {open_clip.__version__} {dtype}",
    )
