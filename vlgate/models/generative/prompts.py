"""Writes a generative model's prompts in the format of its training, and finds the tokens of its replies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.load_errors import one_line
from vlgate.models.text.text_only import ControlTokens
from vlgate.types import Ask, Compare

# Lin et al. 2024, "Evaluating Text-to-Visual Generation with Image-to-Text Generation" (arXiv:2404.01291);
# this is default_question_template of their released t2v_metrics.
VQASCORE = 'Does this figure show "{}"? Please answer yes or no.'
CAPTION = "Describe this image in one sentence."
YES = ("Yes", "yes", "YES")
NO = ("No", "no", "NO")
_HERE = "\ue000"  # a private-use character, which no template and no text has
_THOUGHTS = "<think>"
_NO_THOUGHTS = "<think>\n\n</think>\n\n"  # the end of Qwen3's templates if thinking is off


@dataclass(frozen=True, slots=True, kw_only=True)
class Plain:
    question: str
    caption: str
    end: str = ""  # what the processor adds after the text
    special: bool = True  # whether the tokenizer adds special tokens, which some processors write by themselves


# Families that are published without a chat template, by the model_type of their config.json.
PLAIN: Mapping[str, Plain] = {
    # The prompts of PaliGemma's own training tasks: Beyer et al. 2024 (arXiv:2407.07726).
    "paligemma": Plain(question="{image}answer en {text}", caption="{image}caption en", end="\n"),
    # LLaVA 1.5 as converted before processors had chat templates.
    "llava": Plain(question="USER: {image}\n{text} ASSISTANT:", caption="USER: {image}\n{text} ASSISTANT:"),
    "vipllava": Plain(question="USER: {image}\n{text} ASSISTANT:", caption="USER: {image}\n{text} ASSISTANT:"),
    # transformers' page on Chameleon; its processor adds the token that ends a turn.
    "chameleon": Plain(question="{text}{image}", caption="{text}{image}"),
    # The task prompt of its training (Xiao et al. 2024, arXiv:2311.06242); its processor puts the image before it.
    "florence2": Plain(question="{text}", caption="<CAPTION>", special=False),
    # Li et al. 2023 (arXiv:2301.12597, section 4.1 and 4.2) and Dai et al. 2023 (arXiv:2305.06500, appendix); their
    # processors put the image before the text.
    "blip-2": Plain(question="Question: {text} Answer:", caption="a photo of"),
    "instructblip": Plain(question="{text}", caption="A short image description:"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    head: str  # holds the image and is the same for all texts
    tail: str

    @property
    def text(self) -> str:
        return self.head + self.tail


class Prompter:
    def __init__(self, processor: Any, model_type: str) -> None:
        self._processor = processor
        self._tokenizer = processor.tokenizer
        own = getattr(processor, "chat_template", None)
        template = own or getattr(self._tokenizer, "chat_template", None)
        self._image = str(getattr(processor, "image_token", ""))
        self._settings: dict[str, Any] = {} if own else {"chat_template": template}
        if "enable_thinking" in str(template):  # ask reasoning models for the answer only
            self._settings["enable_thinking"] = False
        self._plain = None if template else PLAIN.get(model_type)
        if template is None and self._plain is None:
            known = ", ".join(PLAIN)
            raise ModelLoadError(
                f"a {model_type} without a chat template cannot be asked: the prompts of {known} are known; save a "
                "chat_template.jinja with its processor"
            )
        self.control = ControlTokens(self._tokenizer, template=str(template or ""), processor=processor)
        self.separate = False
        self.thoughtless = False  # whether thoughts are closed as the template opens them
        from jinja2 import TemplateError

        try:
            self._head, found, self._after = self._rendered(_HERE).partition(_HERE)
            why = "" if found else "it leaves out the user's text"
        except (TemplateError, TypeError, ValueError) as error:
            why = f"{type(error).__name__}: {one_line(error)}"
        if why:
            raise ModelLoadError(
                f"the chat template of this {model_type} does not take an image and a text ({why}); save the "
                "chat_template.jinja of a model that takes images with its processor"
            )
        bos = self._tokenizer.bos_token
        # As in transformers: if the template writes the first token, the tokenizer must not add it.
        self.special = not (bos is not None and self._head.startswith(bos))
        if self._plain is not None:
            self.special = self.special and self._plain.special

    def prompt(self, text: str, images: int = 1) -> Prompt:
        text = " ".join(text.split())
        whole = self._rendered(text, images)
        head, after = self._head, self._after
        if images > 1:
            head, _, after = self._rendered(_HERE, images).partition(_HERE)
        if whole == head + text + after:
            return Prompt(head=head, tail=text + after)
        return Prompt(head="", tail=whole)

    def without_image(self, text: str) -> str:
        text = " ".join(text.split())
        if self._plain is not None:
            return self._plain.question.format(image="", text=text).strip() + self._plain.end
        return self._templated([{"type": "text", "text": text}])

    def caption(self) -> Prompt:
        if self._plain is None:
            return self.prompt(CAPTION)
        return Prompt(head="", tail=self._plain.caption.format(image=self._image, text=CAPTION))

    def _rendered(self, text: str, images: int = 1) -> str:
        if self._plain is not None:
            between = "\n" if "{image}\n" in self._plain.question else ""
            return self._plain.question.format(image=between.join([self._image] * images), text=text)
        return self._templated([*({"type": "image"} for _ in range(images)), {"type": "text", "text": text}])

    def _templated(self, content: list[dict[str, str]]) -> str:
        said = [{"role": "user", "content": content}]
        whole = self._processor.apply_chat_template(said, add_generation_prompt=True, tokenize=False, **self._settings)
        prompt = str(whole)
        if not prompt.rstrip().endswith(_THOUGHTS):
            return prompt
        self.thoughtless = True
        return prompt.rstrip().removesuffix(_THOUGHTS) + _NO_THOUGHTS

    def ids(self, text: str) -> list[int]:
        found = self._tokenizer([text], add_special_tokens=self.special, verbose=False)["input_ids"][0]
        return [int(token) for token in found]

    def continuation(self, prompt: Prompt, text: str) -> tuple[int, ...]:
        if not self.separate:
            before = prompt.text + (self._plain.end if self._plain is not None else "")
            start = self.ids(before)
            whole = self.ids(before + text)
            if whole[: len(start)] == start and len(whole) > len(start):
                return tuple(whole[len(start) :])
        return tuple(self._tokenizer([text], add_special_tokens=False, verbose=False)["input_ids"][0])

    def space(self, prompt: Prompt) -> str:
        """What separates a reply from its prompt: nothing after white space or a token such as ``[/INST]``."""
        if self.separate:
            return ""
        end = prompt.text + (self._plain.end if self._plain is not None else "")
        last = self._tokenizer.added_tokens_decoder.get(self.ids(end)[-1])
        return "" if end[-1:].isspace() or (last is not None and last.special) else " "

    def replies(self, prompt: Prompt, texts: Sequence[str]) -> list[tuple[int, ...]]:
        spaces = dict.fromkeys(["", self.space(prompt)])
        return list(dict.fromkeys(self.continuation(prompt, space + text) for text in texts for space in spaces))

    def single(self, texts: Sequence[str]) -> list[int]:
        prompt = self.prompt("")
        found = [self.continuation(prompt, space + text) for text in texts for space in ("", " ")]
        alone = sorted({ids[0] for ids in found if len(ids) == 1} - {self._tokenizer.unk_token_id})
        if not alone:
            raise ModelLoadError(f"the tokenizer has no single token for {texts[0]!r}; try score=likelihood")
        return alone


def choice_question(question: Ask | Compare) -> str:
    if not question.choices:
        return f"{question.question} Answer with a word or a short phrase."
    return f"{question.question} Answer with one of: {', '.join(question.choices)}."


def forms(choice: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys([choice, choice[:1].upper() + choice[1:]]))
