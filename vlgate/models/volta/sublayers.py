"""The sublayers of VOLTA's encoder: what each attends to, and how wide it is, as the gates of a configuration say.

Bugliarello, Cotterell, Okazaki and Elliott, "Multimodal Pretraining Unmasked" (TACL 2021), section 4: ViLBERT, LXMERT,
UNITER, VL-BERT and VisualBERT are one encoder of gated sublayers, over a text stream and a vision stream. A gate says
whether the tokens of a stream attend to their own stream, to the other, or to both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

Side = Literal["text", "vision"]
GATES: dict[str, tuple[Side, Side]] = {
    "tt_attn_sublayers": ("text", "text"),
    "tv_attn_sublayers": ("text", "vision"),
    "vt_attn_sublayers": ("vision", "text"),
    "vv_attn_sublayers": ("vision", "vision"),
}
FEEDS: dict[str, Side] = {"t_ff_sublayers": "text", "v_ff_sublayers": "vision"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """One stream's part in a sublayer.

    ``width`` is the numbers per token, and ``inner`` the numbers per token within the sublayer: all attention heads
    together, or between the two halves of a feed-forward sublayer. ``sees`` names the streams that it attends to, text
    first; it is empty in a feed-forward sublayer.
    """

    width: int
    inner: int
    heads: int = 1
    sees: tuple[Side, ...] = ()
    activation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sublayer:
    """A sublayer: the streams that go through it (the other is unchanged), and whether both use the same weights.

    VOLTA also sets whether both go through one layer norm. That changes nothing, as it normalises each token by itself.
    """

    attends: bool
    sides: Mapping[Side, Stream]
    shared: bool

    def prefix(self, side: Side) -> str:
        """Return the prefix of the names of a stream's weights within the sublayer."""
        return "" if side == "text" or self.shared else "v_"

    @property
    def joined(self) -> Sublayer | None:
        """The sublayer for both streams concatenated, if they share all weights and each sees both; else None."""
        if not self.shared or any(len(stream.sees) == 1 for stream in self.sides.values()):
            return None
        one = replace(self.sides["text"], sees=("text",) if self.attends else ())
        return Sublayer(attends=self.attends, sides={"text": one}, shared=False)


def sublayers_of(settings: Mapping[str, Any]) -> tuple[Sublayer, ...]:
    """Return the sublayers of a configuration, in order.

    Raises: ValueError if they are not numbered from 0, or one is of both kinds; also what a value of a wrong type
        raises.
    """
    attending = {place for name in GATES for place in settings.get(name, ())}
    feeding = {place for name in FEEDS for place in settings.get(name, ())}
    if attending & feeding or attending | feeding != set(range(len(attending | feeding))):
        raise ValueError("the sublayers are not numbered from 0, with each either attention or feed-forward")
    return tuple(_sublayer(settings, place, attends=place in attending) for place in sorted(attending | feeding))


def _sublayer(settings: Mapping[str, Any], place: int, *, attends: bool) -> Sublayer:
    seen: dict[Side, list[Side]] = {}
    if attends:
        for name, (side, other) in GATES.items():
            if place in settings.get(name, ()):
                seen.setdefault(side, []).append(other)
    else:
        seen = {side: [] for name, side in FEEDS.items() if place in settings.get(name, ())}
    sides = {side: _stream(settings, place, side, tuple(others)) for side, others in seen.items()}
    shared = len(sides) == 2 and place in settings.get("shared_sublayers", ())
    return Sublayer(attends=attends, sides=sides, shared=shared)


def _stream(settings: Mapping[str, Any], place: int, side: Side, sees: tuple[Side, ...]) -> Stream:
    v = "" if side == "text" else "v_"

    def size(general: str, special: str) -> int:
        """The sublayer's own size if it has one, else the general size."""
        return int(settings.get(f"sublayer2{v}{special}", {}).get(str(place), settings[v + general]))

    width = int(settings[v + "hidden_size"])
    if not sees:
        inner = size("intermediate_size", "intermediate_size")
        return Stream(width=width, inner=inner, activation=settings[v + "hidden_act"])
    inner = size("hidden_size", "attn_hidden_size")
    return Stream(width=width, inner=inner, heads=size("num_attention_heads", "num_attention_heads"), sees=sees)


def problems_of(sublayer: Sublayer) -> Iterator[str]:
    """Yield the contradictions within a sublayer."""
    streams = list(sublayer.sides.values())
    for stream in streams:
        if stream.inner % stream.heads:
            yield f"{stream.heads} heads do not divide {stream.inner}"
        if not set(stream.sees) <= set(sublayer.sides):
            yield "a stream attends to another that has no attention in it"
    crossed = any(len(set(stream.sees) - {side}) for side, stream in sublayer.sides.items())
    if crossed and len({(stream.inner, stream.heads) for stream in streams}) > 1:
        yield "two streams attend to each other with heads of different sizes"
    if sublayer.shared and len({(stream.width, stream.inner, stream.heads) for stream in streams}) > 1:
        yield "two streams of different sizes share weights"
