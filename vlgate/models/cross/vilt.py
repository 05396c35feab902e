"""``vilt:WEIGHTS`` matches, aligns words with patches, and ``vilt-vqa:WEIGHTS`` chooses answers (Kim et al. 2021)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate.models.attention import ROLLOUT, attention, cells, mean_of_heads, rolled_out
from vlgate.models.cross.answer_lists import answer_list, answers_file
from vlgate.models.cross.cross_encoder import AnsweringHead, Inputs, MatchingHead, Preparation, QuestionAnswerer
from vlgate.models.specs import Options
from vlgate.types import Ask, Attended, FloatArray

if TYPE_CHECKING:
    import torch

ROUNDS = 1000
STEP = 0.1  # with so many rounds, as ViLT's authors draw heat maps (``demo.py`` of github.com/dandelin/ViLT)


def cosine_cost(words: FloatArray, patches: FloatArray) -> FloatArray:
    """Return 1 minus the cosine of each word, shape (m, d), with each patch, shape (n, d), as an array (m, n)."""
    one = words / np.linalg.norm(words, axis=1, keepdims=True).clip(1e-12)
    two = patches / np.linalg.norm(patches, axis=1, keepdims=True).clip(1e-12)
    cost: FloatArray = 1 - one @ two.T
    return cost


def transport(cost: FloatArray, rounds: int = ROUNDS, step: float = STEP) -> FloatArray:
    """Return a cheap plan, shape (m, n), from weights of 1/m on the rows to weights of 1/n on the columns."""
    # Inexact proximal point iterations (Xie et al., UAI 2020), which approach the cheapest plan as the rounds grow.
    m, n = cost.shape
    kernel = np.exp(-cost / step)
    plan = np.full((m, n), 1 / (m * n))
    scale = np.full(n, 1 / n)
    for _ in range(rounds):
        moved = kernel * plan
        rows = 1 / (m * (moved @ scale))
        scale = 1 / (n * (moved.T @ rows))
        plan = rows[:, None] * moved * scale
    whole: FloatArray = plan / (m * plan.sum(axis=1, keepdims=True))
    return whole


# Words of a text are aligned with patches of an image by optimal transport (Kim et al. 2021, section 4.5), as in
# Winoground's figure 4. The class tokens of both sides, and the last token of the text, are left out, as in the
# authors' own code.

ALIGNMENT = "word-region alignment"


def alignment(model: Any, inputs: Inputs, tokens: list[list[str]], texts: list[str]) -> list[Attended]:
    # The last hidden state has the text first, then the class token of the image and its patches.
    reply, grid = _reply(model.vilt, inputs)
    length = inputs.input_ids.shape[1]
    states = reply.last_hidden_state.float().cpu().double().numpy()
    maps = []
    for state, real, words, text in zip(states, grid.bool().cpu(), tokens, texts, strict=True):
        rows, columns = int(real[:, 0].sum()), int(real[0].sum())
        patches = state[length + 1 :].reshape(*real.shape, -1)[:rows, :columns].reshape(rows * columns, -1)
        named, of_words = (words[1:-1], state[1 : len(words) - 1]) if words[1:-1] else (words[:1], state[:1])
        plan = len(named) * transport(cosine_cost(of_words, patches))
        boxes = tuple(
            (x / columns, y / rows, (x + 1) / columns, (y + 1) / rows) for y in range(rows) for x in range(columns)
        )
        weights = plan.max(axis=0)
        maps.append(
            Attended(
                method=ALIGNMENT,
                image=0,
                text=text,
                boxes=boxes,
                weights=tuple((weights / weights.max()).tolist()),
                words=tuple(named),
                aligned=tuple(tuple(row) for row in plan.tolist()),
            )
        )
    return maps


def rollout(model: Any, inputs: Inputs, _: list[list[str]], texts: list[str]) -> list[Attended]:
    reply, real = _reply(model.vilt, inputs, attentions=True)
    start = inputs.input_ids.shape[1] + 1
    maps = []
    for index, (text, here) in enumerate(zip(texts, real.cpu(), strict=True)):
        rows, columns = int(here[:, 0].sum()), int(here[0].sum())
        token = rolled_out(mean_of_heads(reply.attentions, index))[0]
        patches = token[start:].reshape(*here.shape)[:rows, :columns].ravel()
        maps.append(attention(text, cells((rows, columns)), patches, ROLLOUT))
    return maps


def _reply(vilt: Any, inputs: Inputs, *, attentions: bool = False) -> tuple[Any, torch.Tensor]:
    """The output of a ``ViltModel``, and which patches of each request's image are real, shape (n, h, w)."""
    import torch

    # transformers takes the patches of an image in random order, and drops some if ``max_image_length`` is set. Here
    # each image's patches are embedded once, in order, and all of them are used.
    embeddings, mask = vilt.embeddings, inputs.pixels["pixel_mask"]
    patches = embeddings.patch_embeddings(inputs.pixels["pixel_values"])
    high, wide = patches.shape[2:]
    here = mask[:, :: mask.shape[1] // high, :: mask.shape[2] // wide][:, :high, :wide]
    sizes = list(zip(here[:, :, 0].sum(dim=1).tolist(), here[:, 0].sum(dim=1).tolist(), strict=True))
    positions = {size: _positions(embeddings, size, (high, wide)) for size in set(sizes)}
    whole = (patches + torch.stack([positions[size] for size in sizes])).flatten(2).transpose(1, 2)
    first = (embeddings.cls_token + embeddings.position_embeddings[:, :1]).expand(len(whole), -1, -1)
    seen = torch.cat([here.new_ones(len(here), 1), here.flatten(1)], dim=1)
    reply = vilt(
        input_ids=inputs.input_ids,
        attention_mask=inputs.attention_mask,
        image_embeds=inputs.each(torch.cat([first, whole], dim=1)),
        pixel_mask=inputs.each(seen),
        output_attentions=attentions,
    )
    return reply, inputs.each(here)


def _positions(embeddings: Any, size: tuple[int, int], padded: tuple[int, int]) -> torch.Tensor:
    """Interpolate the learned grid of positions to ``size`` patches, with zeros up to ``padded``, shape (d, h, w)."""
    from torch.nn import functional

    learned = embeddings.position_embeddings[:, 1:].transpose(1, 2)
    side = round(learned.shape[2] ** 0.5)
    grid = learned.reshape(1, -1, side, side)
    stretched = functional.interpolate(grid, size=size, mode="bilinear", align_corners=True)[0]
    return functional.pad(stretched, (0, padded[1] - size[1], 0, padded[0] - size[0]))


# ``vilt:WEIGHTS``: the score is the single logit of ``ViltForImageAndTextRetrieval``, higher for a better fit. Its
# weights are initialised with the matching row of the two-class head of the pretraining (``itm_score.fc.weight[1:]``,
# dandelin/ViLT) and trained to rank the true text first among sixteen. Such a score has no point between yes and no, so
# there is no threshold. transformers has no class with the two-class head, and the checkpoints on the hub do not
# contain it.
RANKING = MatchingHead(
    processor="ViltProcessor",
    logits=lambda model, inputs: model.rank_output(_reply(model.vilt, inputs)[0].pooler_output),
    places=lambda config: config.max_position_embeddings,  # 40 in published checkpoints
    match=None,
    align=alignment,
    roll=rollout,
)


# ``vilt-vqa:WEIGHTS``: ViLT fine-tuned to choose among the answers of VQA v2 (section 4.4). The reply to a question is
# the choice whose label has the highest logit or, with ``?mode=open`` after the weights, the label with the highest
# logit of all. The labels are in the checkpoint's ``config.json``; ``answers=FILE`` gives others.

_WHERE = "the labels in the order of its logits, which a published checkpoint has as id2label in its config.json"


class LabelAnswerer(QuestionAnswerer):
    def __init__(self, model: Any, prepare: Preparation, options: Options, folder: Path, what: str) -> None:
        file, config = answers_file(options["answers"], folder, None, ()), model.config
        self._answers = answer_list(file, config.id2label, config.num_labels, mode=options["mode"], where=_WHERE)
        super().__init__(prepare, fingerprint=f"{what} {self._answers.fingerprint}")
        self._model = model

    @property
    def note(self) -> str:
        return self._answers.note

    def _check(self, questions: Sequence[Ask]) -> None:
        self._answers.check(questions)

    def _replies(self, inputs: Inputs, questions: Sequence[Ask]) -> list[str]:
        pooled = _reply(self._model.vilt, inputs)[0].pooler_output
        return self._answers.choose(self._model.classifier(pooled).float().cpu().double().numpy(), questions)


VQA = AnsweringHead(
    processor="ViltProcessor",
    places=lambda config: config.max_position_embeddings,
    answerer=LabelAnswerer,
)
