"""Runs a generative model over images and prompts, and over each image only once if the architecture allows it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from vlgate.models.checkpoints.inputs import rgb_images
from vlgate.models.generative.prompts import Prompt, Prompter
from vlgate.models.generative.states import State, go_on, read, select
from vlgate.types import LazyImage

if TYPE_CHECKING:
    from PIL.Image import Image

Shown = LazyImage | tuple[LazyImage, ...]
"""The image of a prompt, or several in their order."""
Asked = tuple[Shown, Prompt]
# Families in which a token attends only to earlier ones, so that questions can share an image's states; a test checks
# each. PaliGemma is not one of them: its image tokens attend to the question.
SHARED = frozenset(
    {
        "aria", "fast_vlm", "glm4v", "idefics3", "internvl", "kimi_k25", "llava", "llava_next", "llava_onevision",
        "mistral3", "mllama", "perception_lm", "qwen2_5_vl", "qwen2_vl", "qwen3_vl", "smolvlm",
    }
)  # fmt: skip


class PromptReader:
    """Turns images and prompts into a model's states, from which the probability of a reply can be computed."""

    def __init__(self, model: Any, processor: Any, *, filler: int) -> None:
        """Take an image-text-to-text model with its processor, and the token of padding."""
        kind = model.config.model_type
        self.prompter = Prompter(processor, kind)
        self._model = model
        self._processor = processor
        self._filler = filler
        self._shares = kind in SHARED
        self._image_token = getattr(model.config, "image_token_id", getattr(model.config, "image_token_index", None))

    def read(self, prompts: Sequence[Asked]) -> State:
        """Read distinct prompts; if the family allows it and prompts share images, read each image once."""
        images = list(dict.fromkeys(image for image, _ in prompts))
        if self._shares and len(images) < len(prompts):
            shared = self._read_shared(images, prompts)
            if shared is not None:
                return shared
        return read(self._model, self.inputs([p for p, _ in prompts], [prompt.text for _, prompt in prompts]))

    def _read_shared(self, images: Sequence[Shown], prompts: Sequence[Asked]) -> State | None:
        """Read each image with the prompts' common head, and continue with each text.

        Returns: the states; None if the prompts cannot be split without a change of their tokens.
        """
        heads = {prompt.head for _, prompt in prompts}
        if len(heads) > 1 or not (head := heads.pop()):
            return None
        start = self.prompter.ids(head)
        wholes = [self.prompter.ids(prompt.text) for _, prompt in prompts]
        # The text that follows may change the head's last tokens ("\n" and "Is" as one token).
        kept = min(_common(start, whole) for whole in wholes)
        if self._image_token not in start[:kept] or self._image_token in start[kept:]:
            return None
        inputs = self.inputs(images, [head] * len(images))
        dropped = start[kept:]
        if dropped and any(row[-len(dropped) :] != dropped for row in inputs["input_ids"].tolist()):
            return None
        width = inputs["input_ids"].shape[1]
        inputs = {
            name: value[:, : width - len(dropped)] if getattr(value, "shape", ())[1:] == (width,) else value
            for name, value in inputs.items()
        }
        place = {image: row for row, image in enumerate(images)}
        state = select(read(self._model, inputs), [place[image] for image, _ in prompts])
        return go_on(self._model, state, [whole[kept:] for whole in wholes], filler=self._filler)

    def inputs(self, images: Sequence[Shown], texts: Sequence[str]) -> dict[str, Any]:
        """Return the model's inputs for the image or images of each of n prompts, and the prompts' texts."""
        each = [(one,) if isinstance(one, LazyImage) else one for one in images]
        flat = iter(rgb_images([image for some in each for image in some]))
        made = self.processed([list(islice(flat, len(some))) for some in each], texts)
        dtype = self._model.dtype
        return {
            name: value.to(self._model.device, dtype) if value.is_floating_point() else value.to(self._model.device)
            for name, value in made.items()
            if hasattr(value, "is_floating_point") and name != "labels"
        }

    def processed(self, images: Sequence[Sequence[Image]], texts: Sequence[str]) -> Mapping[str, Any]:
        """Return what the processor makes of the decoded images of each of n prompts, and the prompts' texts."""
        with warnings.catch_warnings():
            # PaliGemma's processor makes labels, which are not used, in a way that numpy 2 warns about.
            warnings.filterwarnings("ignore", message="__array__ implementation", category=DeprecationWarning)
            made: Mapping[str, Any] = self._processor(
                text=list(texts),
                images=[list(some) for some in images],
                padding=True,
                return_tensors="pt",
                add_special_tokens=self.prompter.special,
            )
        return made


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    """The length of the common beginning of two sequences."""
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
