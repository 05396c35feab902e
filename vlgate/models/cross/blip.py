"""``blip:WEIGHTS`` matches and ``blip-vqa:WEIGHTS`` generates answers (Li et al. 2022, sections 3.2 and 5.3)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate.errors import ModelLoadError
from vlgate.models.cross.answer_lists import best, restricted
from vlgate.models.cross.cross_encoder import AnsweringHead, Inputs, MatchingHead, Preparation, QuestionAnswerer
from vlgate.models.specs import Options
from vlgate.types import Ask, FloatArray

if TYPE_CHECKING:
    import torch

# ``blip:WEIGHTS`` (section 3.2): the score is the logit of a match minus the logit of no match. A match is index 1, and
# the authors say yes if its softmax is above one half (salesforce/BLIP, issue 46).
#
# The head was trained on texts that begin with the token ``[ENC]``, and the published figures were made with it
# (``blip_retrieval.py`` of salesforce/BLIP, ``blip_image_text_matching.py`` of salesforce/LAVIS); so it is the
# default. ``BlipForImageTextRetrieval`` uses ``[CLS]`` instead (huggingface/transformers, issue 25629). ``?first=cls``
# after the weights does the same, for checkpoints that were trained in transformers.
#
# Texts are not changed and not shortened; LAVIS removes ``.!"()*#:;~`` from them and cuts them at 35 tokens.

MATCH = 1
NOTES = {
    "cls": "texts begin with [CLS], as in transformers; the published figures were made with [ENC] (?first=enc)",
    "enc": "",
}


def encoded(model: Any, inputs: Inputs, first: int | None) -> torch.Tensor:
    """Return the states of the text encoder for each request, shape (n, length, d); each image is encoded once."""
    images = model.vision_model(pixel_values=inputs.pixels["pixel_values"]).last_hidden_state
    ids = inputs.input_ids
    if first is not None:
        ids = ids.clone()
        ids[:, 0] = first
    states: torch.Tensor = model.text_encoder(
        input_ids=ids, attention_mask=inputs.attention_mask, encoder_hidden_states=inputs.each(images)
    ).last_hidden_state
    return states


def first_token(model: Any, first: str) -> int | None:
    if first == "cls":
        return None
    text = model.config.text_config
    token = int(text.bos_token_id) + 1  # [ENC] follows [DEC] in the vocabulary
    if token >= text.vocab_size:
        raise ModelLoadError(f"first={first!r}: the model has no token [ENC], whose id would be {token}; use first=cls")
    return token


def _logits(model: Any, inputs: Inputs, first: int | None = None) -> torch.Tensor:
    logits: torch.Tensor = model.itm_head(encoded(model, inputs, first)[:, 0])
    return logits


ITM = MatchingHead(
    processor="BlipProcessor",
    may_miss=(r"(vision|text)_proj\..*",),  # only the contrastive score uses them
    logits=_logits,
    places=lambda config: config.text_config.max_position_embeddings,
    match=MATCH,
    begins=lambda model, first: (partial(_logits, first=first_token(model, first)), NOTES[first]),
)


# ``blip-vqa:WEIGHTS`` (section 5.3): the reply to a question is the choice to which the decoder gives the highest
# probability: the sum of the log probabilities of its tokens, end token included. The authors' ``rank_answer``
# (salesforce/BLIP) sums the training loss of the same tokens; its label smoothing of 0.1 adds a tenth of the mean over
# the vocabulary per token, which ranks long answers lower. With ``?mode=open`` after the weights, and for questions
# without choices, the decoder generates the reply greedily (the authors use a beam search with three beams). A question
# begins with ``[ENC]``, as in the authors' code; ``?first=cls`` is for checkpoints that were trained in transformers.

LONGEST = 20  # tokens of a generated answer


class WrittenAnswerer(QuestionAnswerer):
    def __init__(self, model: Any, prepare: Preparation, options: Options, _: Path, what: str) -> None:
        first, mode = options["first"], options["mode"]
        super().__init__(prepare, fingerprint=f"{what} {mode} {first}")
        self.note = NOTES[first]
        self._model = model
        self._first = first_token(model, first)
        self._mode = mode
        self._read = lru_cache(maxsize=4096)(
            lambda choices: [tuple(ids) for ids in prepare.tokenizer(list(choices))["input_ids"]]
        )

    def _check(self, questions: Sequence[Ask]) -> None:
        self._prepare.control.check([question.choices for question in questions])

    def _replies(self, inputs: Inputs, questions: Sequence[Ask]) -> list[str]:
        # The decoder of transformers 5.23 attends to a question's padding, whatever the mask. So only questions of the
        # same length are decoded together, without padding.
        states = encoded(self._model, inputs, self._first)
        lengths = inputs.attention_mask.sum(dim=1).tolist()
        offered = [question.choices if restricted(question, self._mode) else () for question in questions]
        scores: list[FloatArray] = [np.zeros(1)] * len(questions)
        for length in sorted(set(lengths)):
            same = [index for index, other in enumerate(lengths) if other == length]
            held, free = [place for place in same if offered[place]], [place for place in same if not offered[place]]
            if held:
                likely = self._likelihoods(states[held, :length], [offered[place] for place in held])
                for place, values in zip(held, likely, strict=True):
                    scores[place] = values
            if free:
                for place, answer in zip(free, self._written(states[free, :length]), strict=True):
                    offered[place] = (answer,)
        return best(offered, scores)

    def _likelihoods(self, states: torch.Tensor, choices: Sequence[tuple[str, ...]]) -> list[FloatArray]:
        # Choices with the same tokens are computed once, so that they have exactly the same score.
        read = [self._read(offered) for offered in choices]
        texts = [dict(zip(tokens, offered, strict=True)) for tokens, offered in zip(read, choices, strict=True)]
        sums = self._sums(states, [list(distinct.values()) for distinct in texts])
        known = [dict(zip(distinct, values, strict=True)) for distinct, values in zip(texts, sums, strict=True)]
        return [np.array([values[ids] for ids in tokens]) for tokens, values in zip(read, known, strict=True)]

    def _sums(self, states: torch.Tensor, texts: Sequence[Sequence[str]]) -> list[FloatArray]:
        import torch

        numbers = [len(some) for some in texts]
        tokens = self._prepare.tokens([text for some in texts for text in some])
        ids = tokens["input_ids"].clone()
        ids[:, 0] = self._model.decoder_start_token_id
        logits = self._model.text_decoder(
            input_ids=ids,
            attention_mask=tokens["attention_mask"],
            encoder_hidden_states=states.repeat_interleave(torch.tensor(numbers, device=states.device), dim=0),
            use_cache=False,
        ).logits[:, :-1]
        said = torch.log_softmax(logits.float(), dim=-1).gather(2, ids[:, 1:, None])[..., 0].double()
        whole = (said * tokens["attention_mask"][:, 1:]).sum(dim=1).cpu().numpy().astype(np.float64)
        return np.split(whole, np.cumsum(numbers)[:-1])

    def _written(self, states: torch.Tensor) -> list[str]:
        import torch

        text = self._model.config.text_config
        tokens = self._model.text_decoder.generate(
            input_ids=torch.full((len(states), 1), self._model.decoder_start_token_id, device=states.device),
            eos_token_id=text.sep_token_id,
            pad_token_id=text.pad_token_id,
            encoder_hidden_states=states,
            do_sample=False,
            num_beams=1,
            max_new_tokens=min(LONGEST, self._prepare.length - 1),
        )
        answers: list[str] = self._prepare.tokenizer.batch_decode(tokens[:, 1:], skip_special_tokens=True)
        return [answer.strip() for answer in answers]


VQA = AnsweringHead(
    processor="BlipProcessor",
    places=lambda config: config.text_config.max_position_embeddings,
    answerer=WrittenAnswerer,
)
