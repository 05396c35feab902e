"""What a generative model is told, in the form that it was trained with, and the tokens that its replies begin with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vlgate.errors import ModelLoadError
from vlgate.models.damaged import one_line
from vlgate.types import Ask

# Lin et al. 2024, "Evaluating Text-to-Visual Generation with Image-to-Text Generation" (arXiv:2404.01291);
# this is default_question_template of their released t2v_metrics.
VQASCORE = 'Does this figure show "{}"? Please answer yes or no.'
CAPTION = "Describe this picture in one sentence."
YES = ("Yes", "yes", "YES")
NO = ("No", "no", "NO")
_HERE = "\ue000"  # a character that no template and no text has
_THOUGHTS = "<think>"
_NO_THOUGHTS = "<think>\n\n</think>\n\n"  # as the templates of Qwen3 end where no thinking is asked for


@dataclass(frozen=True, slots=True, kw_only=True)
class Plain:
    """How a family without a chat template is asked; ``end`` is what its processor puts behind the text."""

    question: str
    caption: str
    end: str = ""


# Families that are published without a chat template, by the model_type of their config.json.
PLAIN: Mapping[str, Plain] = {
    # The prompts of PaliGemma's own training tasks: Beyer et al. 2024 (arXiv:2407.07726).
    "paligemma": Plain(question="{image}answer en {text}", caption="{image}caption en", end="\n"),
    # LLaVA 1.5 as converted before processors had chat templates.
    "llava": Plain(question="USER: {image}\n{text} ASSISTANT:", caption="USER: {image}\n{text} ASSISTANT:"),
    "vipllava": Plain(question="USER: {image}\n{text} ASSISTANT:", caption="USER: {image}\n{text} ASSISTANT:"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A whole prompt as text: ``head``, which is the same for all texts and holds the picture, and ``tail``."""

    head: str
    tail: str

    @property
    def text(self) -> str:
        """What the processor is given."""
        return self.head + self.tail


class Prompter:
    """Writes prompts and continuations for one processor."""

    def __init__(self, processor: Any, model_type: str) -> None:
        """Take a model's processor and the ``model_type`` of its configuration.

        Raises: ModelLoadError where it has no chat template and its family is not known, and where its template leaves
            out what is asked.
        """
        self._processor = processor
        self._tokenizer = processor.tokenizer
        own = getattr(processor, "chat_template", None)
        template = own or getattr(self._tokenizer, "chat_template", None)
        self._settings: dict[str, Any] = {} if own else {"chat_template": template}
        if "enable_thinking" in str(template):  # models that may think aloud are asked for the answer itself
            self._settings["enable_thinking"] = False
        self._plain = None if template else PLAIN.get(model_type)
        if template is None and self._plain is None:
            known = ", ".join(PLAIN)
            raise ModelLoadError(
                f"a {model_type} without a chat template cannot be asked: its prompt is known for {known} only; save a "
                "chat_template.jinja with its processor"
            )
        self.thoughtless = False
        self._head, self._after = self._around(model_type)
        bos = self._tokenizer.bos_token
        # As the library has it: a template that writes the first token leaves none to be added.
        self.special = not (bos is not None and self._head.startswith(bos))

    def _around(self, model_type: str) -> tuple[str, str]:
        """What stands before and behind every text."""
        from jinja2 import TemplateError

        try:
            head, found, after = self._rendered(_HERE).partition(_HERE)
            why = "" if found else "it leaves out what the user says"
        except (TemplateError, TypeError, ValueError) as error:
            why = f"{type(error).__name__}: {one_line(error)}"
        if why:
            raise ModelLoadError(
                f"the chat template of this {model_type} does not take a picture and a text ({why}); save the "
                "chat_template.jinja of a model that sees pictures with its processor"
            )
        return head, after

    def prompt(self, text: str) -> Prompt:
        """What asks ``text`` about a picture."""
        text = " ".join(text.split())
        whole = self._rendered(text)
        if whole == self._head + text + self._after:
            return Prompt(head=self._head, tail=text + self._after)
        return Prompt(head="", tail=whole)

    def caption(self) -> Prompt:
        """What asks for a caption of a picture."""
        if self._plain is not None:
            text = self._plain.caption.format(image=self._processor.image_token, text=CAPTION)
            return Prompt(head="", tail=text)
        return self.prompt(CAPTION)

    def _rendered(self, text: str) -> str:
        if self._plain is not None:
            return self._plain.question.format(image=self._processor.image_token, text=text)
        content = [{"type": "image"}, {"type": "text", "text": text}]
        said = [{"role": "user", "content": content}]
        whole = self._processor.apply_chat_template(said, add_generation_prompt=True, tokenize=False, **self._settings)
        return self._without_thoughts(str(whole))

    def _without_thoughts(self, prompt: str) -> str:
        """A prompt that a reply follows; ``thoughtless`` says that the template's thoughts had to be closed for it."""
        if not prompt.rstrip().endswith(_THOUGHTS):
            return prompt
        self.thoughtless = True
        return prompt.rstrip().removesuffix(_THOUGHTS) + _NO_THOUGHTS

    def ids(self, text: str) -> list[int]:
        """The tokens of a prompt's text, in which a picture is still one placeholder."""
        found = self._tokenizer([text], add_special_tokens=self.special, verbose=False)["input_ids"][0]
        return [int(one) for one in found]

    def continuation(self, prompt: Prompt, text: str) -> tuple[int, ...]:
        """The tokens that the tokenizer gives ``text`` where it stands behind the prompt."""
        before = prompt.text + (self._plain.end if self._plain is not None else "")
        start = self.ids(before)
        whole = self.ids(before + text)
        if whole[: len(start)] == start and len(whole) > len(start):
            return tuple(whole[len(start) :])
        return tuple(self._tokenizer([text], add_special_tokens=False, verbose=False)["input_ids"][0])

    def space(self, prompt: Prompt) -> str:
        """What stands between a prompt and its reply: nothing behind white space or a token such as ``[/INST]``."""
        end = prompt.text + (self._plain.end if self._plain is not None else "")
        last = self._tokenizer.added_tokens_decoder.get(self.ids(end)[-1])
        return "" if end[-1:].isspace() or (last is not None and last.special) else " "

    def replies(self, prompt: Prompt, texts: Sequence[str]) -> list[tuple[int, ...]]:
        """The distinct token sequences of some texts as replies, each with and without a space before it."""
        spaces = dict.fromkeys(["", self.space(prompt)])
        return list(dict.fromkeys(self.continuation(prompt, space + text) for text in texts for space in spaces))

    def single(self, texts: Sequence[str]) -> list[int]:
        """The tokens that alone are one of ``texts``, with or without a space before it.

        Raises: ModelLoadError where there is none.
        """
        prompt = self.prompt("")
        found = [self.continuation(prompt, space + text) for text in texts for space in ("", " ")]
        alone = sorted({ids[0] for ids in found if len(ids) == 1})
        unknown = self._tokenizer.unk_token_id
        alone = [one for one in alone if one != unknown]
        if not alone:
            raise ModelLoadError(f"the tokenizer has no token for {texts[0]!r}, so that yes and no cannot be weighed")
        return alone


def choice_question(question: Ask) -> str:
    """A question with its choices named in an instruction.

    >>> from vlgate.types import Picture
    >>> picture = Picture(key="1.jpg", load=None)
    >>> choice_question(Ask(picture=picture, question="What colour is the cup?", choices=("red", "blue")))
    'What colour is the cup? Answer with one of: red, blue.'
    """
    if not question.choices:
        return f"{question.question} Answer with a word or a short phrase."
    return f"{question.question} Answer with one of: {', '.join(question.choices)}."


def forms(choice: str) -> tuple[str, ...]:
    """How a model may write a choice: as it stands, and with a capital.

    >>> forms("red")
    ('red', 'Red')
    """
    return tuple(dict.fromkeys([choice, choice[:1].upper() + choice[1:]]))
