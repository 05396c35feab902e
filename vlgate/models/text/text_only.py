"""The common part of causal and masked language models, which see no image.

They measure how much of a benchmark the texts alone give away: an implausible foil is found without the image.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any

from vlgate.errors import NoReplyError
from vlgate.models.checkpoints.hub import Pretrained, identity
from vlgate.models.checkpoints.missing import missing_package
from vlgate.models.checkpoints.transformers_loading import load_model, load_processor
from vlgate.models.text.checks import check_size, longest_text
from vlgate.models.text.control_tokens import ControlTokens

if TYPE_CHECKING:
    import torch

ENDLESS = 10**9  # more than any limit; a tokenizer without a limit has 10^30


class TextModel:
    """The base of causal and masked language models.

    ``note`` says how the perplexity is computed; ``cut_texts`` holds all texts so far that were longer than the model's
    context and lost their end.
    """

    def __init__(self, model: Any, tokenizer: Any, *, note: str, fingerprint: str) -> None:
        """Wrap a language model in evaluation mode, with its tokenizer."""
        self.note = note
        self.fingerprint = fingerprint
        self.cut_texts: set[str] = set()
        self._model = model
        self._tokenizer = tokenizer
        self._control = ControlTokens(tokenizer)
        self._longest = longest_text(model, tokenizer, ENDLESS)

    def text_keys(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        """Return the tokens of each text; texts that are cut are added to ``cut_texts``."""
        return [tuple(row) for row in self._rows(texts)]

    def _rows(self, texts: Sequence[str]) -> Sequence[Sequence[int]]:
        raise NotImplementedError

    def _cut(self, texts: Sequence[str], rows: Sequence[Sequence[int]]) -> list[Sequence[int]]:
        self.cut_texts.update(compress(texts, (len(row) > self._longest for row in rows)))
        return [row[: self._longest] for row in rows]

    def _padded(self, rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return token ids and their mask, padded on the right, shape (n, length)."""
        import torch

        width = max(map(len, rows))
        device = self._model.device
        ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in rows], device=device)
        mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows], device=device)
        return ids, mask


def refuse_short(texts: Sequence[str], short: Sequence[bool]) -> None:
    """Raise NoReplyError if some texts are too short; ``short`` says which."""
    positions = [place for place, too_short in enumerate(short) if too_short]
    if positions:
        raise NoReplyError(positions, f"the text {texts[positions[0]]!r} has too few tokens to have a perplexity")


def loaded(source: Pretrained, cls: str, device: str, dtype: str) -> tuple[Any, Any, str]:
    """Load a language model of transformers.

    Args:
        source: the place of the checkpoint.
        cls: the name of the class of transformers.
        device: a name that ``torch.device`` takes.
        dtype: ``float32``, ``float16`` or ``bfloat16``.

    Returns: the model, its tokenizer, and a string that changes with everything that their replies depend on.
    Raises: ModelLoadError if they cannot be loaded, or if the tokenizer has more tokens than the model.
    """
    try:
        import transformers
    except ModuleNotFoundError as error:
        raise missing_package(error.name or "transformers", "hf") from None
    tokenizer = load_processor(transformers.AutoTokenizer, source)
    made_by: Callable[..., object] = getattr(transformers, cls)
    model = load_model(made_by, source, device=device, dtype=dtype)
    check_size(model, tokenizer, source.asked)
    return model, tokenizer, f"{identity(source)} {transformers.__version__} {dtype} {cls}"
