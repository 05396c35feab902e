"""The sublayers of VOLTA's encoder: what each looks at, and how wide it is, as the gates of a configuration say.

Bugliarello, Cotterell, Okazaki and Elliott, "Multimodal Pretraining Unmasked" (TACL 2021), section 4: ViLBERT, LXMERT,
UNITER, VL-BERT and VisualBERT are one encoder of gated sublayers, over a text stream and a vision stream. A gate says
whether the tokens of one stream look at those of the other, or of their own.
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

    ``width`` is how many numbers a token has, ``inner`` how many it has within the sublayer: all attention heads
    together, or between the two halves of a feed-forward sublayer. ``sees`` names the streams that it looks at, text
    first; it is empty in a feed-forward sublayer.
    """

    width: int
    inner: int
    heads: int = 1
    sees: tuple[Side, ...] = ()
    activation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sublayer:
    """A sublayer: the streams that go through it (the other passes by), and whether both use the same weights.

    Whether both also go through one layer norm, side by side, is not kept: a layer norm looks at one token at a time.
    """

    attends: bool
    sides: Mapping[Side, Stream]
    shared: bool

    def prefix(self, side: Side) -> str:
        """How the names of a stream's weights begin, within the sublayer."""
        return "" if side == "text" or self.shared else "v_"

    @property
    def joined(self) -> Sublayer | None:
        """The same for both streams as one, one behind the other, where all is shared and each sees both; else None."""
        if not self.shared or any(len(stream.sees) == 1 for stream in self.sides.values()):
            return None
        one = replace(self.sides["text"], sees=("text",) if self.attends else ())
        return Sublayer(attends=self.attends, sides={"text": one}, shared=False)


def sublayers_of(settings: Mapping[str, Any]) -> tuple[Sublayer, ...]:
    """The sublayers of a configuration, in order.

    Raises: ValueError where they are not numbered from 0, or one is of two kinds; also what a value of another type
        raises.
    """
    attending = {place for name in GATES for place in settings.get(name, ())}
    feeding = {place for name in FEEDS for place in settings.get(name, ())}
    if attending & feeding or attending | feeding != set(range(len(attending | feeding))):
        raise ValueError("the sublayers are not numbered from 0, each either of attention or of feed-forward")
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
        """The sublayer's own size where it has one, else that of all."""
        return int(settings.get(f"sublayer2{v}{special}", {}).get(str(place), settings[v + general]))

    width = int(settings[v + "hidden_size"])
    if not sees:
        inner = size("intermediate_size", "intermediate_size")
        return Stream(width=width, inner=inner, activation=settings[v + "hidden_act"])
    inner = size("hidden_size", "attn_hidden_size")
    return Stream(width=width, inner=inner, heads=size("num_attention_heads", "num_attention_heads"), sees=sees)


def problems_of(sublayer: Sublayer) -> Iterator[str]:
    """What contradicts itself within a sublayer."""
    streams = list(sublayer.sides.values())
    for stream in streams:
        if stream.inner % stream.heads:
            yield f"{stream.heads} heads do not divide {stream.inner}"
        if not set(stream.sees) <= set(sublayer.sides):
            yield "a stream is looked at that has no attention of its own there"
    crossed = any(len(set(stream.sees) - {side}) for side, stream in sublayer.sides.items())
    if crossed and len({(stream.inner, stream.heads) for stream in streams}) > 1:
        yield "two streams look at each other with heads of different sizes"
    if sublayer.shared and len({(stream.width, stream.inner, stream.heads) for stream in streams}) > 1:
        yield "two streams of different sizes share weights"
