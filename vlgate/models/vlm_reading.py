"""Pictures and prompts, read by a generative model: each picture once where the architecture allows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vlgate.models.inputs import rgb_images
from vlgate.models.vlm_prompts import Prompt, Prompter
from vlgate.models.vlm_states import State, go_on, read, select
from vlgate.types import Picture

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


class PromptReader:
    """What reads pictures and prompts into states of a model, from which a reply can be weighed."""

    def __init__(self, model: Any, processor: Any, *, filler: int) -> None:
        """Take an image-text-to-text model with its processor, and the token that fills up shorter rows."""
        kind = model.config.model_type
        self.prompter = Prompter(processor, kind)
        self._model = model
        self._processor = processor
        self._filler = filler
        self._shares = kind in SHARED
        self._picture_token = getattr(model.config, "image_token_id", getattr(model.config, "image_token_index", None))

    def read(self, prompts: Sequence[Asked]) -> State:
        """Read distinct prompts, each picture once where the family allows and there is something to gain."""
        pictures = list(dict.fromkeys(picture for picture, _ in prompts))
        if self._shares and len(pictures) < len(prompts):
            shared = self._read_shared(pictures, prompts)
            if shared is not None:
                return shared
        return read(self._model, self.inputs([p for p, _ in prompts], [prompt.text for _, prompt in prompts]))

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
        inputs = self.inputs(pictures, [head] * len(pictures))
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

    def inputs(self, pictures: Sequence[Picture], texts: Sequence[str]) -> dict[str, Any]:
        """What goes into the model for n pictures, each with a prompt's text."""
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
