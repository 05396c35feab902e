"""What language models that see no picture have in common, causal ones and masked ones.

They show what a benchmark's texts give away by themselves: the foil that is less plausible is found without looking.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any

from vlgate.errors import NoReplyError
from vlgate.models.hub import Pretrained, identity
from vlgate.models.hub_loading import load_model, load_processor
from vlgate.models.missing import missing_package
from vlgate.models.text_checks import check_size, longest_text

if TYPE_CHECKING:
    import torch

ENDLESS = 10**9  # a tokenizer without a limit says 10^30


class TextModel:
    """What causal and masked models have in common. ``cut_texts`` holds the texts so far that lost their end."""

    def __init__(self, model: Any, tokenizer: Any, *, note: str, fingerprint: str) -> None:
        """Take a language model in evaluation mode, with its tokenizer."""
        self.note = note
        self.fingerprint = fingerprint
        self.cut_texts: set[str] = set()
        self._model = model
        self._tokenizer = tokenizer
        self._longest = longest_text(model, tokenizer, ENDLESS)

    def _cut(self, texts: Sequence[str], rows: Sequence[Sequence[int]]) -> list[Sequence[int]]:
        self.cut_texts.update(compress(texts, (len(row) > self._longest for row in rows)))
        return [row[: self._longest] for row in rows]

    def _padded(self, rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Token ids and their mask, padded on the right, shape (n, length)."""
        import torch

        width = max(map(len, rows))
        device = self._model.device
        ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in rows], device=device)
        mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows], device=device)
        return ids, mask


def refuse_short(texts: Sequence[str], short: Sequence[bool]) -> None:
    """Raise NoReplyError for the texts that are too short, where there are some; ``short`` says which are."""
    positions = [place for place, too_short in enumerate(short) if too_short]
    if positions:
        raise NoReplyError(positions, f"the text {texts[positions[0]]!r} has too few tokens to have a perplexity")


def loaded(source: Pretrained, cls: str, device: str, dtype: str) -> tuple[Any, Any, str]:
    """Load a language model of transformers.

    Args:
        source: where the checkpoint is.
        cls: the name of its class.
        device: a name that ``torch.device`` takes.
        dtype: ``float32``, ``float16`` or ``bfloat16``.

    Returns: the model, its tokenizer, and what their replies depend on.
    Raises: ModelLoadError, also where the tokenizer has more tokens than the model knows.
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
