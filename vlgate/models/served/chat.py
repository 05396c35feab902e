"""The chat-completions format: what a request holds, what a reply says, and which fields a service accepts."""

from __future__ import annotations

import base64
import io
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from vlgate.asking.adapters import YES_OR_NO
from vlgate.asking.batching import HALF, Problem
from vlgate.errors import ModelLoadError, halved, printable
from vlgate.judging.announced import after_thought, has_thought
from vlgate.judging.answers import read_answer
from vlgate.models.generative.prompts import VQASCORE
from vlgate.models.served.http import Endpoint, Place, ServiceError

if TYPE_CHECKING:
    from PIL.Image import Image

_QUALITY = 95
_MATCH_TOKENS = 8  # of a scored answer; its first token that is not blank is read
_FIELD_REJECTED = (400, 403, 422)  # 403: OpenAI's answer to log-probabilities of a reasoning model
_BLANKS = " \t\r\n\u2581\u0120\u010a\"'`*_.,:;!()"  # with the blanks of sentencepiece and of byte-level tokens
_WHITE = "Is this image white? Answer yes or no."
_SPECIAL = re.compile(r"\s*(?:<[|\uff5c][^<>]*[|\uff5c]>|</?s>|<(?:bos|eos|pad)>|<(?:start|end)_of_turn>)\s*")
# Fields: "reasoning" of vLLM, "reasoning_content" of SGLang and llama.cpp, "thinking" of Ollama, and others.
_THOUGHTS = re.compile(r"_?(?:reason|think|thought)", re.IGNORECASE)
_REFUSED = ("content_filter", "safety", "refusal")
_CUT_OFF = ("length", "max_tokens", "max_output_tokens", "model_length")  # of OpenAI, Anthropic, Google, Mistral
_HALF = 0.5  # of the probability of the first word: with less, another word is likelier than yes and no together
_SHOWN = 80  # characters of a reply in a message
_KEY_REMEDY = "; is the key in the environment, and right? key_env=NAME names its variable"
_REMEDIES = {
    0: "; is it running, and is the address right, /v1 included?",
    401: _KEY_REMEDY,
    403: _KEY_REMEDY,
    404: "; is the model's name right, and the address, /v1 included?",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    name: str
    fields: Mapping[str, object]
    logprobs: bool = False
    answers_as: str = ""
    remarks: tuple[str, ...] = ()

    def body(self, images: Sequence[str], text: str, *, scored: bool = False) -> dict[str, object]:
        fields = dict(self.fields)
        if not scored:
            fields = {name: value for name, value in fields.items() if "logprobs" not in name}
        elif "max_tokens" in fields:
            fields["max_tokens"] = _MATCH_TOKENS
        shown: list[dict[str, object]] = [{"type": "image_url", "image_url": {"url": url}} for url in images]
        content = [*shown, {"type": "text", "text": text}]
        return {"model": self.name, "messages": [{"role": "user", "content": content}], **fields}


def negotiate(place: Place, endpoint: Endpoint) -> Dialect:
    from PIL import Image

    image = data_url(Image.new("RGB", (64, 64), "white"), place)
    fields: dict[str, object] = {"max_tokens": place.max_tokens, "temperature": 0}
    if place.logprobs:
        fields |= {"logprobs": True, "top_logprobs": 20}
    dialect = Dialect(name=place.name, fields=fields)
    while True:
        body, plain = (dialect.body([image], _WHITE, scored=scored) for scored in (True, False))
        try:
            return _accepted(dialect, endpoint.ask({**body, **dialect.fields}), partial(endpoint.ask, plain))
        except ServiceError as error:
            simpler = _without(dialect, str(error).lower()) if error.status in _FIELD_REJECTED else None
            if simpler is None:
                remedy = _REMEDIES.get(error.status, "")
                raise ModelLoadError(f"openai: {place.name!r} at {place.url}: {error}{remedy}") from None
            dialect = simpler


def _accepted(dialect: Dialect, reply: Mapping[str, object], again: Callable[[], Mapping[str, object]]) -> Dialect:
    text = text_of(reply)
    if isinstance(text, Problem) and "choices" not in reply:
        raise ServiceError(text.why, 200)
    why = _unscored(dialect, reply, again)
    remarks = (f"{why}: {YES_OR_NO} to {VQASCORE!r}",) if why else ()
    return replace(dialect, logprobs=not why, answers_as=name_of(reply), remarks=(*dialect.remarks, *remarks))


def _unscored(dialect: Dialect, reply: Mapping[str, object], again: Callable[[], Mapping[str, object]]) -> str:
    choice = _choice(reply)
    if thinks(reply):
        return "the model thinks before it answers"
    if "logprobs" not in dialect.fields or isinstance(choice, Problem) or _likeliest(choice) is None:
        return "the service gives no log-probabilities"
    word = first_word(reply)
    if isinstance(word, FirstWord) and not word.weak:
        return ""
    plain = again()
    if thinks(plain):
        return "the model thinks before it answers"
    if isinstance(yes_or_no(plain), Problem):
        return ""  # its answers say neither yes nor no, so that 1 and 0 would be no better
    return "the first word of its answers is neither yes nor no, which were asked for"


def _without(dialect: Dialect, complaint: str) -> Dialect | None:
    fields = dict(dialect.fields)
    if "logprob" in complaint and fields.get("top_logprobs") == 20:
        return replace(dialect, fields=fields | {"top_logprobs": 5})
    if "logprob" in complaint and "logprobs" in fields:
        return replace(dialect, fields={name: value for name, value in fields.items() if "logprobs" not in name})
    if "max_tokens" in complaint and "max_tokens" in fields:
        return replace(dialect, fields={"max_completion_tokens": fields.pop("max_tokens"), **fields})
    if "temperature" in complaint and "temperature" in fields:
        del fields["temperature"]
        remark = "the service takes no temperature: its replies may differ from run to run"
        return replace(dialect, fields=fields, remarks=(*dialect.remarks, remark))
    return None


def data_url(image: Image, place: Place) -> str:
    from PIL import Image as Images

    if place.size and max(image.size) > place.size:
        scale = place.size / max(image.size)
        width, height = (max(1, round(side * scale)) for side in image.size)
        image = image.resize((width, height), Images.Resampling.LANCZOS)
    stream = io.BytesIO()
    if place.form == "png":
        image.save(stream, "PNG", compress_level=1)  # a third larger than level 6, in a fifth of the time
    else:
        image.save(stream, "JPEG", quality=_QUALITY, subsampling=0)
    return f"data:image/{place.form};base64,{base64.b64encode(stream.getvalue()).decode()}"


def text_of(reply: Mapping[str, object], max_tokens: int = 0) -> str | Problem:
    # without the thoughts that a reasoning model writes before its answer
    choice = _choice(reply)
    if isinstance(choice, Problem):
        return choice
    content = _content(choice)
    if str(choice.get("finish_reason")).lower() in _CUT_OFF:
        what = "thought" if thinks(reply) and after_thought(content) in (None, "") else "answer"
        limit, more = (f"max_tokens={max_tokens}", max(64, 8 * max_tokens)) if max_tokens else ("max_tokens", "N")
        remedy = f"to raise max_tokens, write ?max_tokens={more} after the model's name"
        return Problem(why=f"the {what} is cut off at {limit}: {_excerpt(content)}; {remedy}")
    if halved(content):
        return Problem(why=f"the answer {_excerpt(content)} {HALF}")
    text = after_thought(content)
    if text is None:
        return Problem(why=f"the answer is a thought that does not end: {_excerpt(content)}")
    if not text.strip():
        aside = ": the reply is a thought only" if thinks(reply) else ""
        return Problem(why=f"the answer is empty{aside}")
    return text.strip()


def _excerpt(text: str) -> str:
    plain = " ".join(text.split())
    return repr(plain if len(plain) <= _SHOWN else f"{plain[:_SHOWN]}...")


def name_of(reply: Mapping[str, object]) -> str:
    name = reply.get("model")
    return printable(name) if isinstance(name, str) else ""


def yes_or_no(reply: Mapping[str, object], max_tokens: int = 0) -> float | Problem:
    text = text_of(reply, max_tokens)
    if isinstance(text, Problem):
        return text
    answer = read_answer(text, ("yes", "no"))
    if answer is None:
        return Problem(why=f"the answer {_excerpt(text)} is neither yes nor no")
    return float(answer == "yes")


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstWord:
    yes: float | None  # the probability that an answer begins with it; None if the service does not list the word
    no: float | None

    @property
    def weak(self) -> bool:
        # whether another word is likelier than yes and no together
        return (self.yes or 0.0) + (self.no or 0.0) < _HALF


def first_word(reply: Mapping[str, object]) -> FirstWord | Problem:
    """The probabilities that an answer begins with yes and with no, each summed over its spellings.

    >>> words = [{"token": "Yes", "logprob": -0.5}, {"token": " no", "logprob": -1.0}]
    >>> choice = {"message": {"content": "Yes"}, "logprobs": {"content": [{"token": "Yes", "top_logprobs": words}]}}
    >>> round(first_word({"choices": [choice]}).yes, 3)
    0.607
    """
    choice = _choice(reply)
    if isinstance(choice, Problem):
        return choice
    if thinks(reply):
        return Problem(why="the model thinks before it answers, so its first word is not the answer; write ?logprobs=0")
    likely = _likeliest(choice)
    if likely is None:
        return Problem(why="this reply has no readable log-probabilities, though the first one had; try logprobs=0")
    sums: dict[str, float] = {}
    for token, probability in likely:
        word = token.strip(_BLANKS).casefold()
        sums[word] = min(1.0, sums.get(word, 0.0) + probability)
    if not sums.keys() & {"yes", "no"}:
        shown = ", ".join(repr(token) for token, _ in likely[:5])
        return Problem(why=f"neither yes nor no is among the likeliest first words ({shown}); try logprobs=0")
    return FirstWord(yes=sums.get("yes"), no=sums.get("no"))


def thinks(reply: Mapping[str, object]) -> bool:
    """Whether a reply holds the model's thoughts: in the answer, its tokens, or a field or part of their own."""
    choice = _choice(reply)
    if isinstance(choice, Problem):
        return False
    fields = {**choice, **choice["message"]}
    named = (value for name, value in fields.items() if _THOUGHTS.match(str(name)))
    logprobs = choice.get("logprobs")  # some services leave special tokens out of the text only
    tokens = logprobs.get("content") if isinstance(logprobs, dict) else ()
    written = [str(token.get("token", "")) for token in _dicts(tokens)]
    return (
        any(value.strip() if isinstance(value, str) else value for value in named)
        or any(_THOUGHTS.match(str(part.get("type", ""))) for part in _dicts(fields.get("content")))
        or has_thought(_content(choice))
        or has_thought("".join(written))
    )


def _dicts(values: object) -> list[dict[str, object]]:
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def _choice(reply: Mapping[str, object]) -> dict[str, Any] | Problem:
    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(choice, dict) and isinstance(choice.get("message"), dict):
        refusal = choice["message"].get("refusal")
        if refusal or choice.get("finish_reason") in _REFUSED:
            return Problem(why=f"the service refuses to answer: {str(refusal or choice['finish_reason'])[:_SHOWN]}")
        return choice
    if error := reply.get("error"):
        return Problem(why=f"the service answers with an error: {str(error)[:_SHOWN]}")
    return Problem(why=f"the reply is not a chat completion: it has {', '.join(map(str, reply)) or 'nothing'}")


def _content(choice: Mapping[str, Any]) -> str:
    content = choice["message"].get("content")
    if isinstance(content, list):
        shown = [part for part in content if not isinstance(part, dict) or not _THOUGHTS.match(str(part.get("type")))]
        parts = (part.get("text") if isinstance(part, dict) else part for part in shown)
        content = "".join(text for text in parts if isinstance(text, str))
    return content if isinstance(content, str) else ""


def _likeliest(choice: Mapping[str, Any]) -> list[tuple[str, float]] | None:
    match choice.get("logprobs"):
        case {"content": list(tokens)}:
            for token in tokens:
                match token:
                    case {"token": str(text)} if not text.strip(_BLANKS) or _SPECIAL.fullmatch(text):
                        continue
                    case {"token": str(), "top_logprobs": [_, *_] as likely}:
                        return _probabilities(likely)
                return None
    return None


def _probabilities(likely: list[object]) -> list[tuple[str, float]] | None:
    found = []
    for one in likely:
        match one:
            case {"token": str(token), "logprob": int() | float() as logprob} if not math.isnan(logprob):
                found.append((token, math.exp(min(0.0, logprob))))
            case _:
                return None
    return found
