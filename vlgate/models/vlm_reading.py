"""A generative model as what it can do here: weigh the next token, weigh whole replies, and write."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate.errors import ModelLoadError
from vlgate.models.inputs import rgb_images
from vlgate.models.likelihood import log_probabilities
from vlgate.models.vlm_prompts import Prompt, Prompter
from vlgate.models.vlm_states import State, go_on, log_likelihoods, read, select
from vlgate.types import FloatArray, Picture

if TYPE_CHECKING:
    from PIL.Image import Image

Asked = tuple[Picture, Prompt]
# Families in which a token sees those before it only, and of which a test holds that a picture read once is a picture
# read again and again. PaliGemma is none: its pictures see the question.
SHARED = frozenset(
    {
        "glm4v", "idefics3", "internvl", "llava", "llava_next", "llava_onevision", "mistral3", "qwen2_5_vl", "qwen2_vl",
        "qwen3_vl", "smolvlm",
    }
)  # fmt: skip
# Pictures of these are not among the tokens, and what must come with each step differs.
_REFUSED = frozenset({"mllama"})


class Engine:
    """A model of transformers with its processor."""

    def __init__(self, model: Any, processor: Any) -> None:
        """Take an image-text-to-text model in evaluation mode.

        Raises: ModelLoadError where the model is of a kind that cannot be weighed here.
        """
        kind = model.config.model_type
        if model.config.is_encoder_decoder or kind in _REFUSED or not hasattr(processor, "tokenizer"):
            raise ModelLoadError(
                f"a {kind} is no model that reads pictures and text as one sequence and goes on from it; "
                "write an adapter of your own (package.module:callable)"
            )
        tokenizer = processor.tokenizer
        tokenizer.padding_side = "left"
        if tokenizer.pad_token is None:
            tokenizer.pad_token = tokenizer.eos_token
        self.prompter = Prompter(processor, kind)
        self._model = model
        self._processor = processor
        self._filler = int(tokenizer.pad_token_id or 0)
        self._ends = _ends(model, tokenizer)
        self._stops = tuple(sorted({*self._ends, *_full_stop(tokenizer)}))
        # The checkpoint's own settings (sampling, penalties, suppressed tokens) would fill in whatever is left open.
        model.generation_config = self._greedy()
        self._shares = kind in SHARED
        self._picture_token = getattr(model.config, "image_token_id", getattr(model.config, "image_token_index", None))

    def next_of(self, prompts: Sequence[Asked], groups: Sequence[Sequence[int]]) -> FloatArray:
        """The probability that the next token is one of a group.

        Args:
            prompts: n prompts with their pictures.
            groups: g groups of token ids.

        Returns: probabilities, shape (n, g).
        """
        import torch

        with torch.inference_mode():
            distinct = list(dict.fromkeys(prompts))
            state = self._read(distinct)
            found = [state.next[:, list(group)].logsumexp(-1).exp() for group in groups]
            rows = torch.stack(found, dim=1).cpu().numpy()
        place = {prompt: row for row, prompt in enumerate(distinct)}
        return np.asarray(rows[[place[prompt] for prompt in prompts]], dtype=np.float64)

    def likelihoods(self, wanted: Sequence[tuple[Asked, tuple[int, ...]]], *, ended: bool = False) -> FloatArray:
        """The log-likelihoods of replies.

        Args:
            wanted: n prompts with their pictures, each with the tokens of a reply.
            ended: whether the reply must end there: with a token that ends a turn, or a full stop.

        Returns: natural logarithms, shape (n,).
        """
        import torch

        found: list[float] = []
        if not wanted:
            return np.zeros(0)
        with torch.inference_mode():
            distinct = list(dict.fromkeys(prompt for prompt, _ in wanted))
            place = {prompt: row for row, prompt in enumerate(distinct)}
            state = self._read(distinct)
            # A state is copied for each reply that goes on from it: no more of them at a time than there are prompts.
            for start in range(0, len(wanted), len(distinct)):
                part = wanted[start : start + len(distinct)]
                here = select(state, [place[prompt] for prompt, _ in part])
                replies = [ids for _, ids in part]
                ends = self._stops if ended else ()
                found += log_likelihoods(self._model, here, replies, filler=self._filler, ends=ends)
        return np.array(found, dtype=np.float64)

    def generate(self, prompts: Sequence[Asked], most: int) -> list[str]:
        """What the model writes, greedily, in at most ``most`` tokens."""
        import torch

        if not prompts:
            return []
        inputs = self._inputs([picture for picture, _ in prompts], [prompt.text for _, prompt in prompts])
        with torch.inference_mode():
            written = self._model.generate(**inputs, generation_config=self._greedy(max_new_tokens=most))
        new = written[:, inputs["input_ids"].shape[1] :]
        return [text.strip() for text in self._processor.tokenizer.batch_decode(new, skip_special_tokens=True)]

    def step_by_step(self, asked: Asked, reply: Sequence[int]) -> float:
        """The log-likelihood of a reply as the library's own ``generate`` comes to it: alone, one token at a time."""
        import torch

        inputs = self._inputs([asked[0]], [asked[1].text])
        start = inputs["input_ids"].shape[1]
        with torch.inference_mode():
            made = self._model.generate(
                **inputs,
                generation_config=self._greedy(
                    max_new_tokens=len(reply), output_logits=True, return_dict_in_generate=True
                ),
                prefix_allowed_tokens_fn=lambda _, so_far: [reply[len(so_far) - start]],
            )
            steps = log_probabilities(torch.cat(made.logits))
        return sum(float(row[token]) for row, token in zip(steps, reply, strict=True))

    def _greedy(self, **settings: Any) -> Any:
        import transformers

        made_by: Any = transformers.GenerationConfig  # its own annotations are incomplete
        return made_by(
            do_sample=False, num_beams=1, eos_token_id=self._ends or None, pad_token_id=self._filler, **settings
        )

    def _read(self, prompts: Sequence[Asked]) -> State:
        """Read distinct prompts, each picture once where the family allows and there is something to gain."""
        pictures = list(dict.fromkeys(picture for picture, _ in prompts))
        if self._shares and len(pictures) < len(prompts):
            shared = self._read_shared(pictures, prompts)
            if shared is not None:
                return shared
        return read(self._model, self._inputs([p for p, _ in prompts], [prompt.text for _, prompt in prompts]))

    def _read_shared(self, pictures: Sequence[Picture], prompts: Sequence[Asked]) -> State | None:
        """Read the pictures with what stands before every text, and go on from there with each text.

        None where the prompts cannot be parted so that the tokens stay the same.
        """
        heads = {prompt.head for _, prompt in prompts}
        if len(heads) > 1 or not (head := heads.pop()):
            return None
        start = self.prompter.ids(head)
        wholes = [self.prompter.ids(prompt.text) for _, prompt in prompts]
        # The head's last tokens may be others where a text follows ("\n" and "Is" as one token).
        kept = min(_common(start, whole) for whole in wholes)
        if self._picture_token not in start[:kept] or self._picture_token in start[kept:]:
            return None
        inputs = self._inputs(pictures, [head] * len(pictures))
        dropped = start[kept:]
        if dropped and any(row[-len(dropped) :] != dropped for row in inputs["input_ids"].tolist()):
            return None
        width = inputs["input_ids"].shape[1]
        inputs = {
            name: value[:, : width - len(dropped)] if getattr(value, "shape", ())[1:] == (width,) else value
            for name, value in inputs.items()
        }
        place = {picture: row for row, picture in enumerate(pictures)}
        state = select(read(self._model, inputs), [place[picture] for picture, _ in prompts])
        return go_on(self._model, state, [whole[kept:] for whole in wholes], filler=self._filler)

    def _inputs(self, pictures: Sequence[Picture], texts: Sequence[str]) -> dict[str, Any]:
        images: list[list[Image]] = [[image] for image in rgb_images(pictures)]
        with warnings.catch_warnings():
            # PaliGemma's processor makes labels, which nobody asked for, in a way that numpy 2 warns of.
            warnings.filterwarnings("ignore", message="__array__ implementation", category=DeprecationWarning)
            made: Mapping[str, Any] = self._processor(
                text=list(texts),
                images=images,
                padding=True,
                return_tensors="pt",
                add_special_tokens=self.prompter.special,
            )
        dtype = self._model.dtype
        return {
            name: value.to(self._model.device, dtype) if value.is_floating_point() else value.to(self._model.device)
            for name, value in made.items()
            if hasattr(value, "is_floating_point") and name != "labels"
        }


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens two sequences begin with in common."""
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _ends(model: Any, tokenizer: Any) -> list[int]:
    """The tokens that end a turn, in order."""
    listed = getattr(model.generation_config, "eos_token_id", None)
    found = {tokenizer.eos_token_id, *(listed if isinstance(listed, list) else [listed])}
    return sorted(int(one) for one in found if one is not None)


def _full_stop(tokenizer: Any) -> list[int]:
    """The token of a full stop, which many models write before they end their turn."""
    stop = tokenizer("a.", add_special_tokens=False)["input_ids"][-1]
    return [int(stop)] if tokenizer.decode([stop]).strip() == "." else []
