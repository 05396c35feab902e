"""``open_clip:ARCH/TAG``: the dual encoders of open_clip (CLIP, SigLIP, CoCa and their relatives).

The score is the cosine. A logit scale and bias, as SigLIP has them, would not change the order of two scores; they make
the decision threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vlgate.errors import ModelLoadError
from vlgate.models.cosine import sigmoid_threshold, threshold_note, unit_rows
from vlgate.models.device import pick_dtype
from vlgate.models.inputs import prepared
from vlgate.models.open_clip_names import check_names, parse
from vlgate.models.open_clip_parts import create, refuse_code, tokenizer_of, transform_of
from vlgate.models.open_clip_published import unsaid
from vlgate.models.open_clip_weights import check_sizes, identity, shapes, weights_file
from vlgate.types import FloatArray, Picture

if TYPE_CHECKING:
    import torch
    from PIL.Image import Image


class OpenClip:
    """An open_clip model.

    ``decision_threshold`` is the cosine above which a model that was trained with a sigmoid gives a pair more than one
    half; None for the others, which only rank. ``note`` says what a reader of the results must know ("" for nothing),
    ``cut_texts`` holds the texts so far that were longer than the model's context and lost their end.
    """

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
        """Take a model that open_clip made, in evaluation mode, with what prepares its texts and pictures."""
        self.decision_threshold = sigmoid_threshold(model)
        self.note = "; ".join(part for part in (note, threshold_note(self.decision_threshold)) if part)
        self.fingerprint = fingerprint
        self.cut_texts: set[str] = set()
        self._model = model
        self._tokenizer = tokenizer
        self._prepare = prepare
        self._device = next(model.parameters()).device
        self._dtype = pick_dtype(dtype)

    def encode_images(self, images: Sequence[Picture]) -> FloatArray:
        """Encode pictures.

        Returns: rows of length 1, shape (n, d).
        Raises: PictureError for the first picture that cannot be decoded.
        """
        import torch

        pixels = torch.stack(prepared(images, self._prepare))
        return self._rows(self._model.encode_image, pixels.to(self._dtype))

    def encode_texts(self, texts: Sequence[str]) -> FloatArray:
        """Encode texts; what goes beyond the model's context is cut off, and those texts are kept in ``cut_texts``.

        Returns: rows of length 1, shape (n, d).
        """
        tokens = self._tokenizer(list(texts))
        self.cut_texts.update(compress(texts, _cut_off(self._tokenizer, texts, tokens)))
        return self._rows(self._model.encode_text, tokens)

    def _rows(self, encode: Callable[..., torch.Tensor], inputs: torch.Tensor) -> FloatArray:
        import torch

        with torch.inference_mode():
            return unit_rows(encode(inputs.to(self._device), normalize=False))


def _cut_off(tokenizer: Any, texts: Sequence[str], tokens: torch.Tensor) -> list[bool]:
    """Say which texts were cut off: with one more place they would have had something other than their end."""
    length = tokens.shape[1]
    wide = tokenizer(list(texts), context_length=length + 1)
    # This kind of tokenizer ends every row with a class token, long or short.
    last = length - 1 if getattr(tokenizer, "tokenizer_mode", "") == "clips" else length
    found: list[bool] = (wide[:, :last] != tokens[:, :last]).any(dim=1).tolist()
    return found


def check(weights: str, folder: Path) -> None:
    """Say whether weights are named, and local ones are there; imports neither torch nor open_clip.

    Raises: ModelLoadError.
    """
    parse(weights, folder)


def build(weights: str, folder: Path, device: str = "cpu", dtype: str = "float32", seed: int = 0) -> OpenClip:
    """Load an open_clip model.

    Args:
        weights: what stands after ``open_clip:``; see ``open_clip_names.parse``.
        folder: where the user started.
        device: a name that ``torch.device`` takes.
        dtype: ``float32``, ``float16`` or ``bfloat16``; the layer norms stay in float32.
        seed: for ``ARCH/random`` only.

    Raises: ModelLoadError, which says what was looked for, where, and what to do.
    """
    source = parse(weights, folder)
    try:
        import open_clip
    except ModuleNotFoundError as error:
        raise ModelLoadError(f"open_clip:{weights} needs {error.name}; pip install 'vlgate[clip]'") from error

    check_names(source)
    file = weights_file(source)
    sizes = shapes(file) if file is not None else {}  # before open_clip opens it: nothing in it is run
    refuse_code(source)
    model = create(source, file, device=device, dtype=dtype, seed=seed)
    check_sizes(source, sizes, model)
    random = f"untrained on purpose, with random weights of seed {seed}" if source.kind == "random" else ""
    return OpenClip(
        model,
        tokenizer_of(source),
        transform_of(source, model),
        dtype=dtype,
        note=random or unsaid(source),
        fingerprint=f"{identity(source, file, seed)} {open_clip.__version__} {dtype}",
    )
