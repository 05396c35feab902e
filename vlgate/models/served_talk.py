"""How a service wants to be talked to: which fields of a request it knows, and what it tells."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from vlgate.calling import Problem
from vlgate.errors import ModelLoadError
from vlgate.models.served_endpoint import Endpoint
from vlgate.models.served_http import ServiceError
from vlgate.models.served_place import Place
from vlgate.models.served_replies import said, tells_probabilities, thinks
from vlgate.models.vlm_prompts import VQASCORE

if TYPE_CHECKING:
    from PIL.Image import Image

_QUALITY = 95
_WORDS_OF_A_MATCH = 8  # tokens; the first that is no blank is looked at
_REFUSES_A_FIELD = (400, 403, 422)  # 403: OpenAI's, for log-probabilities of models that think


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """The fields of a request beside the messages, what the service calls its model, and remarks for the report."""

    name: str
    fields: Mapping[str, object]
    logprobs: bool = False
    answers_as: str = ""
    remarks: tuple[str, ...] = field(default=())

    def body(self, picture: str, text: str, *, scored: bool = False) -> dict[str, object]:
        """A request about a picture, a data URL; ``scored`` where the probability of the first word is wanted."""
        fields = dict(self.fields)
        if not scored:
            fields = {name: value for name, value in fields.items() if "logprobs" not in name}
        elif "max_tokens" in fields:
            fields["max_tokens"] = _WORDS_OF_A_MATCH
        content = [{"type": "image_url", "image_url": {"url": picture}}, {"type": "text", "text": text}]
        return {"model": self.name, "messages": [{"role": "user", "content": content}], **fields}


def settle(place: Place, endpoint: Endpoint) -> Talk:
    """Ask one question about a white picture, leaving out one by one what the service says it does not know.

    Raises: ModelLoadError where it answers nothing all the same.
    """
    from PIL import Image

    picture = data_url(Image.new("RGB", (64, 64), "white"), place)
    fields: dict[str, object] = {"max_tokens": place.max_tokens, "temperature": 0}
    if place.logprobs:
        fields |= {"logprobs": True, "top_logprobs": 20}
    talk = Talk(name=place.name, fields=fields)
    while True:
        body = talk.body(picture, "Is this picture white? Answer yes or no.", scored=True)
        try:
            return _settled(talk, endpoint.ask({**body, **talk.fields}))
        except ServiceError as error:
            simpler = _without(talk, str(error).lower()) if error.status in _REFUSES_A_FIELD else None
            if simpler is None:
                raise ModelLoadError(f"openai: {place.name!r} at {place.url}: {error}{_remedy(error.status)}") from None
            talk = simpler


def data_url(image: Image, place: Place) -> str:
    """A picture as ``data:image/png;base64,...``, made smaller where the place asks for it."""
    from PIL import Image as Images

    if place.size and max(image.size) > place.size:
        scale = place.size / max(image.size)
        image = image.resize((_side(image.width, scale), _side(image.height, scale)), Images.Resampling.LANCZOS)
    stream = io.BytesIO()
    if place.form == "png":
        image.save(stream, "PNG", compress_level=1)  # a third larger than level 6, in a fifth of the time
    else:
        image.save(stream, "JPEG", quality=_QUALITY, subsampling=0)
    return f"data:image/{place.form};base64,{base64.b64encode(stream.getvalue()).decode()}"


def _side(pixels: int, scale: float) -> int:
    return max(1, round(pixels * scale))


def _settled(talk: Talk, reply: Mapping[str, object]) -> Talk:
    text = said(reply)
    if isinstance(text, Problem) and "choices" not in reply:
        raise ServiceError(text.why, 200)
    name = reply.get("model")
    logprobs = "logprobs" in talk.fields and tells_probabilities(reply)
    remarks = talk.remarks
    if not logprobs:
        why = "the model thinks before it answers" if thinks(reply) else "the service tells no probabilities"
        remarks = (*remarks, f"{why}: the score of a match is 1 for yes and 0 for no to {VQASCORE!r}")
    return replace(talk, logprobs=logprobs, answers_as=name if isinstance(name, str) else "", remarks=remarks)


def _without(talk: Talk, complaint: str) -> Talk | None:
    """The talk without what a service complains of; None where it complains of nothing that can be left out."""
    fields = dict(talk.fields)
    if "logprob" in complaint and fields.get("top_logprobs") == 20:
        return replace(talk, fields=fields | {"top_logprobs": 5})
    if "logprob" in complaint and "logprobs" in fields:
        return replace(talk, fields={name: value for name, value in fields.items() if "logprobs" not in name})
    if "max_tokens" in complaint and "max_tokens" in fields:
        return replace(talk, fields={"max_completion_tokens": fields.pop("max_tokens"), **fields})
    if "temperature" in complaint and "temperature" in fields:
        del fields["temperature"]
        remark = "the service takes no temperature: its replies may differ from run to run"
        return replace(talk, fields=fields, remarks=(*talk.remarks, remark))
    return None


def _remedy(status: int) -> str:
    return {
        0: "; is it running, and is the address right, /v1 included?",
        401: "; is the key in the environment, and right? key_env=NAME names its variable",
        403: "; is the key in the environment, and right? key_env=NAME names its variable",
        404: "; is the model's name right, and the address, /v1 included?",
    }.get(status, "")
