"""Words of a text aligned with patches of an image by optimal transport, for ViLT (Kim et al. 2021, section 4.5).

Winoground's figure 4 shows such maps. The class tokens of both sides, and the last token of the text, are left out, as
in the authors' own code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vlgate.explaining.record import Attended
from vlgate.models.attending.transport import cosine_cost, transport

if TYPE_CHECKING:
    import torch

METHOD = "word-region alignment"


def aligned(reply: Any, length: int, grid: torch.Tensor, tokens: list[list[str]], texts: list[str]) -> list[Attended]:
    """Return the alignment of each of n requests.

    Args:
        reply: the output of a ``ViltModel``, whose last hidden state has the text first, then the class token of the
            image and its patches.
        length: the length that the texts are padded to.
        grid: which patches of each request's image are real, shape (n, h, w).
        tokens: the tokens of each text, both ends included, without padding.
        texts: the texts.
    """
    states = reply.last_hidden_state.float().cpu().double().numpy()
    found = []
    for state, real, words, text in zip(states, grid.bool().cpu(), tokens, texts, strict=True):
        rows, columns = int(real[:, 0].sum()), int(real[0].sum())
        patches = state[length + 1 :].reshape(*real.shape, -1)[:rows, :columns].reshape(rows * columns, -1)
        named = words[1:-1]
        if not named:
            named, of_words = words[:1], state[:1]
        else:
            of_words = state[1 : len(words) - 1]
        plan = len(named) * transport(cosine_cost(of_words, patches))
        boxes = tuple(
            (x / columns, y / rows, (x + 1) / columns, (y + 1) / rows) for y in range(rows) for x in range(columns)
        )
        weights = plan.max(axis=0)
        found.append(
            Attended(
                method=METHOD,
                image=0,
                text=text,
                boxes=boxes,
                weights=tuple((weights / weights.max()).tolist()),
                words=tuple(named),
                aligned=tuple(tuple(row) for row in plan.tolist()),
            )
        )
    return found
