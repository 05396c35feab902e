"""Fill gaps with a masked language model, such as SpanBERT, BERT or RoBERTa."""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.hub import pretrained
from vlgate.models.text.judges import BATCH, by_length
from vlgate.models.text.text_only import ENDLESS, loaded, longest_text, padded
from vlgate.perturb.foils.candidates import Filling, Gap

_WORD_BEGINS = ("Ġ", "▁")  # the marks of byte-level BPE and of SentencePiece
_GLUED = frozenset(".,;:!?)'")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    gap: int
    row: tuple[int, ...]
    first: int  # the first token that is still masked
    masked: int  # how many are
    filled: tuple[int, ...] = ()
    likely: float = 0.0

    def grown(self, token: int, likely: float) -> _Draft:
        row, filled = (*self.row[: self.first], token, *self.row[self.first + 1 :]), (*self.filled, token)
        likely += self.likely
        return replace(self, row=row, first=self.first + 1, masked=self.masked - 1, filled=filled, likely=likely)


class MaskedFiller:
    # The probability of several tokens is their joint one by the chain rule: the first one is predicted while the
    # others are masked, the next one with the first in its place. A beam search keeps the best ``top`` beginnings.

    def __init__(self, model: Any, tokenizer: Any, *, fingerprint: str) -> None:
        import torch

        self.fingerprint = fingerprint
        self._model = model
        self._tokenizer = tokenizer
        self._longest = longest_text(model, tokenizer, ENDLESS)
        # Which tokens may begin a filling and which may go on with it, each of shape (vocabulary,).
        size = model.config.vocab_size
        special = set(tokenizer.all_special_ids)
        begins, inside = (torch.zeros(size, dtype=torch.bool) for _ in range(2))
        pieces = {
            place: piece for piece, place in tokenizer.get_vocab().items() if place < size and place not in special
        }
        marked = any(piece.startswith(_WORD_BEGINS) for piece in pieces.values())
        for place, piece in pieces.items():
            bare = piece.lstrip("".join(_WORD_BEGINS)).removeprefix("##")
            inside[place] = bool(bare) and not set(bare) <= set(string.punctuation)
            begins[place] = inside[place] and (piece.startswith(_WORD_BEGINS) if marked else not piece.startswith("##"))
        self._begins, self._inside = begins.to(model.device), inside.to(model.device)

    def fill(self, gaps: Sequence[Gap], top: int) -> list[list[Filling]]:
        """At most ``top`` fillings of each length, in tokens, for each gap, the most probable first."""
        # A filling begins a word. A gap whose text is longer than the model's context has no fillings.
        fillingses: list[list[Filling]] = [[] for _ in gaps]
        drafts = [draft for index, gap in enumerate(gaps) for draft in self._drafts(index, gap)]
        while drafts:
            drafts = self._grown(drafts, top)
            for draft in drafts:
                if not draft.masked:
                    text = self._tokenizer.decode(list(draft.filled)).strip()
                    fillingses[draft.gap].append(Filling(text=text, log_probability=draft.likely))
            drafts = [draft for draft in drafts if draft.masked]
        return [sorted(some, key=lambda one: -one.log_probability) for some in fillingses]

    def _drafts(self, place: int, gap: Gap) -> list[_Draft]:
        mask = self._tokenizer.mask_token
        glues = self._tokenizer.convert_ids_to_tokens(self._tokenizer.mask_token_id) == "<mask>"
        made = []
        for length in gap.lengths:
            middle = mask * length if glues else " ".join([mask] * length)
            before = f"{gap.before} " if gap.before else ""
            after = gap.after if gap.after[:1] in _GLUED or not gap.after else f" {gap.after}"
            row = self._tokenizer(f"{before}{middle}{after}", verbose=False)["input_ids"]
            spots = [spot for spot, token in enumerate(row) if token == self._tokenizer.mask_token_id]
            if len(spots) == length and len(row) <= self._longest:
                made.append(_Draft(gap=place, row=tuple(row), first=spots[0], masked=length))
        return made

    def _grown(self, drafts: Sequence[_Draft], top: int) -> list[_Draft]:
        beams: dict[tuple[int, int], list[_Draft]] = {}
        for places in by_length([len(draft.row) for draft in drafts], BATCH):
            batch = [drafts[place] for place in places]
            for draft, likely, tokens in zip(batch, *self._best(batch, top), strict=True):
                beam = beams.setdefault((draft.gap, len(draft.filled) + draft.masked), [])
                beam += [draft.grown(token, one) for token, one in zip(tokens, likely, strict=True) if one > -1e30]
        return [one for beam in beams.values() for one in sorted(beam, key=lambda one: -one.likely)[:top]]

    def _best(self, batch: Sequence[_Draft], top: int) -> tuple[list[list[float]], list[list[int]]]:
        import torch

        ids, mask = padded([draft.row for draft in batch], self._model.device, self._tokenizer.pad_token_id)
        rows = torch.arange(len(batch), device=ids.device)
        spots = torch.tensor([draft.first for draft in batch], device=ids.device)
        begins = torch.tensor([not draft.filled for draft in batch], device=ids.device)
        with torch.inference_mode():
            logits = self._model(input_ids=ids, attention_mask=mask).logits[rows, spots]
            likely = logits.float().log_softmax(-1)
            allowed = torch.where(begins[:, None], self._begins, self._inside)
            best = likely.masked_fill(~allowed, -torch.inf).topk(min(top, likely.shape[1]), dim=1)
        return best.values.cpu().tolist(), best.indices.cpu().tolist()


def gap_filler(weights: str, device: str = "cpu", *, folder: Path = Path(), dtype: str = "float32") -> MaskedFiller:
    source = pretrained(weights, folder)
    model, tokenizer, what = loaded(source, "AutoModelForMaskedLM", device, dtype)
    if tokenizer.mask_token_id is None or tokenizer.pad_token_id is None:
        raise ModelLoadError(f"{source.asked} has no mask or padding token; name a masked language model")
    return MaskedFiller(model, tokenizer, fingerprint=what)
