"""The chain to a model: steps that each take a call and its items, and ask the next one.

The predictor puts its steps (deduplicate, order, cache) before those of a ``Caller``: batch and watch.
"""

from __future__ import annotations

import faulthandler
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Sized
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np

from vlgate.asking.image_prefetch import Ahead, InputsAhead, inputs_ahead
from vlgate.asking.items import Copies, copied, hashed_order, images_in, spoken
from vlgate.errors import (
    ImageError,
    MissingImageError,
    ModelReplyError,
    NoReplyError,
    OptionError,
    VlgateError,
    halved,
    printable,
)
from vlgate.types import FloatArray, Match, TextKeys

# The limit on the time of one call: the process ends with status 1 if a call takes longer. Three things work
# together, because a call may hang in C code that holds Python's global lock: a second process, ``guard.py``, says
# which call takes too long; a thread of ``faulthandler``, which needs no lock, then writes the traceback and ends the
# process; and if the call returns late, but before that, the process waits for its end.

_GUARD = Path(__file__).with_name("guard.py")
_ENDS = 1.0  # seconds after the limit until the process ends; the guard speaks before that
_IDLE: AbstractContextManager[None] = nullcontext()

Watch = Callable[[str, int], AbstractContextManager[None]]
"""Takes the name of a model's method and the number of requests, and gives the context that the call runs in."""


def unwatched(called: str, n: int) -> AbstractContextManager[None]:  # noqa: ARG001  # a Watch that watches nothing
    return _IDLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """How long a call of n requests may take, and the sentence that says what to do if it takes longer."""

    seconds: Callable[[int], float]
    remedy: str


@dataclass(slots=True, kw_only=True)
class CallLimit:
    """The limit on the calls of one process; without ``allowed`` there is none, and no guard is started."""

    # ``who`` is how the message calls this process, ``stderr`` a file descriptor for it. ``note`` is a file that says
    # which call was late, for another process to read.

    who: str
    stderr: int
    note: Path | None = None
    allowed: Allowed | None = None
    _guard: subprocess.Popen[str] | None = field(default=None, init=False, repr=False)

    def watch(self, called: str, n: int) -> AbstractContextManager[None]:
        return _IDLE if self.allowed is None else self._limited(called, n, self.allowed)

    def start(self) -> None:
        if self._guard is not None:
            return
        command = [sys.executable, "-I", str(_GUARD), str(self.note or "")]
        null, pipe = subprocess.DEVNULL, subprocess.PIPE
        try:
            self._guard = subprocess.Popen(  # noqa: S603  # our own script, in its own session: Ctrl-C is for the run
                command, stdin=pipe, stdout=null, stderr=self.stderr, text=True, start_new_session=True
            )
        except OSError as error:
            message = f"--call-timeout: the process that watches the model cannot be started ({error.strerror})"
            raise OptionError(f"{message}; free some memory, or leave the option out") from None

    def close(self) -> None:
        guard, self._guard = self._guard, None
        if guard is not None:
            with suppress(OSError):
                guard.stdin.close()  # type: ignore[union-attr]
            guard.wait()

    @contextmanager
    def _limited(self, called: str, n: int, allowed: Allowed) -> Iterator[None]:
        self.start()
        limit = allowed.seconds(n)
        what = f"{called}() of {n} request{'s' if n > 1 else ''} did not return within {limit:g} s"
        self._tell({"limit": limit, "what": what, "says": f"{self.who}: {what}; {allowed.remedy}"})
        faulthandler.dump_traceback_later(limit + _ENDS, exit=True, file=self.stderr)
        start = time.monotonic()
        try:
            yield
        finally:
            if time.monotonic() - start >= limit:
                time.sleep(2 * _ENDS)  # faulthandler ends the process meanwhile
                os._exit(1)
            faulthandler.cancel_dump_traceback_later()
            self._tell({})

    def _tell(self, content: dict[str, object]) -> None:
        stream: IO[str] | None = None if self._guard is None else self._guard.stdin
        if stream is not None:
            with suppress(OSError, ValueError):  # a guard that was killed; faulthandler ends a late call without it
                stream.write(json.dumps(content) + "\n")
                stream.flush()


HALF = "is not valid Unicode: it holds half of a surrogate pair"
OVERFLOW = "numbers in float16 end at 65,504, which models trained in bfloat16 exceed; run with --dtype bfloat16"
_MEMORY_WORDS = ("out of memory", "not enough memory", "can't allocate memory", "cannot allocate memory")


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why one request has no reply; ``why`` may be foreign text, and is kept as one printable line."""

    why: str
    missing: bool = False
    skipped: bool = False

    def __post_init__(self) -> None:
        # half of a surrogate pair would stop every file of the run
        object.__setattr__(self, "why", printable(self.why))


class Sizes:
    """What is known of the batch sizes that fit a model; these are found anew in each run."""

    def halved(self, size: int) -> None:
        """Note that memory ran out with twice as many items."""

    def note(self, size: int) -> str:  # noqa: ARG002
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    # ``numbers`` is an array of shape (n,), ``rows`` one of shape (n, d), ``strings`` a sequence of n; ``plain`` is
    # anything, which only a model on a cluster is asked for. Such a model has the method elsewhere, so it is None.

    called: str
    method: Callable[[Sequence[Any]], object] | None = None
    kind: Literal["numbers", "rows", "strings", "plain"] = "numbers"
    nan: bool = False


Asking = Callable[[Call, Sequence[Any]], list[Any]]
"""Takes a call and n items; returns n replies, a ``Problem`` for an item without one."""
Step = Callable[["Caller", Asking, Call, Sequence[Any]], list[Any]]
"""One step on the way to a model: takes the caller, the ``Asking`` of the next step, and what that one would take."""


def in_batches(caller: Caller, then: Asking, call: Call, items: Sequence[Any]) -> list[Any]:
    """The step that asks at most ``caller.size`` items at once, and half of that after memory has run out."""
    replies: list[Any] = []
    several = len(items) > caller.size and call.called in InputsAhead.CALLED
    made = inputs_ahead(getattr(call.method, "__self__", None)) if several else None
    caller.ahead.loads |= made is not None
    coming: Sequence[Any] = ()
    with caller.ahead.through(items) as given, nullcontext() if made is None else made.running():
        while len(replies) < len(items):
            stop = len(replies) + caller.size
            chunk, coming = coming or given(len(replies), stop), ()
            if made is not None:
                coming = given(stop, stop + caller.size) if stop < len(items) else ()
                with caller.watch(call.called, len(chunk) + len(coming)):
                    made.begin(call.method, caller.copies.of(chunk), caller.copies.of(coming))
            try:
                replies += then(call, chunk)
            except (MemoryError, RuntimeError) as error:
                if not out_of_memory(error):
                    raise
                if len(chunk) == 1:
                    message = f"the model {caller.name!r} runs out of memory on a batch of one item: {error}"
                    raise ModelReplyError("; ".join(filter(None, (message, caller.room())))) from error
                caller.size = len(chunk) // 2
                caller.sizes.halved(caller.size)
                coming = ()
                if made is not None:
                    made.drop()
    return replies


def watched(caller: Caller, _: Asking, call: Call, chunk: Sequence[Any]) -> list[Any]:
    # The model gets copies of the items. It is asked again without those that cannot have a reply, so that a bad image
    # does not affect its neighbours.
    problems: dict[int, Problem] = {}
    while len(problems) < len(chunk):
        left = [index for index in range(len(chunk)) if index not in problems] if problems else range(len(chunk))
        some = [chunk[place] for place in left] if problems else chunk
        shown = caller.copies.of(some)
        try:
            with caller.watch(call.called, len(some)):
                try:
                    replies = caller.checked(call.method(shown), some, call)  # type: ignore[misc]
                except Exception as error:
                    caller.copies.name(error, some)
                    if not isinstance(error, VlgateError) and not hasattr(error, "__notes__"):
                        n = f"{len(some):,} requests, the first" if len(some) > 1 else "one request"
                        error.add_note(f"{call.called}() was asked {n}: {spoken(some[0])}")
                    raise
        except ImageError as error:
            bad = {place: problem for place in left if (problem := _image_problem(chunk[place])) is not None}
            if not bad:
                message = f"the model raised ImageError, but all images of the batch can be decoded: {error}"
                raise ModelReplyError(message) from error
            problems |= bad
        except NoReplyError as error:
            if not error.positions <= set(range(len(left))) or not error.positions:
                message = f"the model raised NoReplyError with positions outside 0..{len(left) - 1}, or none: {error}"
                raise ModelReplyError(message) from error
            whys = {position: error.reasons.get(position, str(error)) for position in error.positions}
            problems |= {left[position]: Problem(why=why) for position, why in whys.items()}
        else:
            if not problems:
                return replies
            by_place = dict(zip(left, replies, strict=True)) | problems
            return [by_place[index] for index in range(len(chunk))]
    return [problems[index] for index in range(len(chunk))]


def chain(caller: Caller, *steps: Step) -> Asking:
    def ask(call: Call, _: Sequence[Any]) -> list[Any]:
        raise TypeError(f"{call.called}(): the last step of a chain asks the model itself")

    for step in reversed((*steps, *caller.steps)):
        ask = partial(step, caller, ask)
    return ask


@dataclass(slots=True, kw_only=True)
class Caller:
    """Calls a model's methods on batches of at most ``size`` items; ``size`` is halved if memory runs out."""

    # No other field changes. ``watch`` may limit the time of a call. While the model works on a batch, ``ahead``
    # decodes the images of the next. ``sizes`` remembers the size, ``room`` says how much memory there is, and
    # ``dtype`` is the model's precision, for messages. The model gets ``copies`` of the items. ``steps`` are the last
    # ones on the way to the model; a model on a cluster has its own.

    name: str
    size: int
    watch: Watch = unwatched
    ahead: Ahead = field(default_factory=Ahead)
    sizes: Sizes = field(default_factory=Sizes)
    room: Callable[[], str] = str
    dtype: str = "float32"
    copies: Copies = field(default_factory=Copies)
    steps: tuple[Step, ...] = (in_batches, watched)

    def ask(self, call: Call, items: Sequence[Any]) -> list[Any]:
        return chain(self)(call, items)

    def text_keys(self, model: object, texts: Iterable[str]) -> Mapping[str, Hashable]:
        if not isinstance(model, TextKeys):
            return {}
        distinct = list(dict.fromkeys(texts))
        return dict(zip(distinct, self.keys_of(model, distinct), strict=True))

    def keys_of(self, model: TextKeys, texts: Sequence[str]) -> Sequence[Hashable]:
        # the model gets the texts in an order that tells nothing
        order = hashed_order(texts, 0)
        reply: object = model.text_keys([copied(texts[place]) for place in order])
        if isinstance(reply, str) or not isinstance(reply, Sequence | np.ndarray) or len(reply) != len(texts):
            what = f"{len(reply)} keys" if isinstance(reply, Sized) else f"a {type(reply).__name__}"
            raise self._unusable("text_keys", f"{what} for {len(texts)} texts; return one key per text")
        for key in reply:
            if not isinstance(key, Hashable):
                raise self._unusable("text_keys", f"a key that is a {type(key).__name__}; return tuples or strings")
        keys = dict(zip(order, reply, strict=True))
        return [keys[index] for index in range(len(texts))]

    def neither(self, model: object, requests: Iterable[object]) -> AbstractSet[object]:
        """The pairs among some requests whose answer probably begins with neither yes nor no."""
        unsure: AbstractSet[Match] = getattr(model, "neither", frozenset())
        if not unsure:
            return frozenset()
        pairs = (request for request in requests if isinstance(request, Match))
        return {pair for pair in pairs if self.copies.of((pair,))[0] in unsure}

    def checked(self, reply: object, items: Sequence[Any], call: Call) -> list[Any]:
        n = len(items)
        if call.kind == "strings":
            if isinstance(reply, str) or not isinstance(reply, Sequence):
                raise self._unusable(call.called, f"a {type(reply).__name__}; return a sequence of {n} strings")
            if len(reply) != n:
                raise self._unusable(call.called, f"{len(reply)} answers for {n} questions; return one per question")
            for item, answer in zip(items, reply, strict=True):
                if not isinstance(answer, str):
                    what = f"the answer {answer!r}, which is not a string, to {spoken(item)}; return strings only"
                    raise self._unusable(call.called, what)
            return [Problem(why=f"the answer {answer!r} {HALF}") if halved(answer) else str(answer) for answer in reply]
        array = self._checked_array(reply, items, call)
        return array.tolist() if call.kind == "numbers" else list(array.copy())  # a model may fill its array again

    def _checked_array(self, reply: object, items: Sequence[Any], call: Call) -> FloatArray:
        called, n = call.called, len(items)
        dimensions, shape = (1, "(n,)") if call.kind == "numbers" else (2, "(n, d)")
        try:
            array = np.asarray(_on_cpu(reply), dtype=np.float64)
        except (TypeError, ValueError, RuntimeError) as error:
            what = f"a {type(reply).__name__} that cannot become an array of numbers ({error})"
            raise self._unusable(called, f"{what}; return n = {n} finite numbers in shape {shape}") from error
        if array.ndim != dimensions or len(array) != n:
            what = f"{'None, ' if reply is None else ''}an array of shape {array.shape} for n = {n} items"
            raise self._unusable(called, f"{what}; return shape {shape}")
        wrong = np.isinf(array) if call.nan else ~np.isfinite(array)
        if wrong.any():
            place = int(np.flatnonzero(wrong.reshape(n, -1).any(axis=1))[0])
            remedy = OVERFLOW if self.dtype == "float16" else "return finite numbers only"
            raise self._unusable(called, f"{array[wrong][0]} for item {place} of {n}, {spoken(items[place])}; {remedy}")
        return array

    def _unusable(self, called: str, what: str) -> ModelReplyError:
        return ModelReplyError(f"{called}() of the model {self.name!r} returned {what}")


def truncated_texts(model: object) -> AbstractSet[str]:
    texts: AbstractSet[str] = getattr(model, "cut_texts", frozenset())
    return texts


def _on_cpu(reply: object) -> object:
    # a tensor of any device and precision, without importing torch
    if _is_masked(reply):
        raise TypeError("some of its numbers are masked")
    if hasattr(reply, "detach"):
        return reply.detach().cpu().double()
    array = np.asarray(reply)
    texts = array.astype(object).flat if array.dtype.kind in "OSU" else ()
    if (text := next((one for one in texts if isinstance(one, str | bytes)), None)) is not None:
        raise TypeError(f"it holds {text!r}, which is a {type(text).__name__}, not a number")
    if array.dtype.kind not in "fiubO":
        raise TypeError(f"its numbers are of kind {array.dtype.kind!r}, not real")
    return reply


def _is_masked(reply: Any) -> bool:
    """Whether a number of a reply is masked: ``np.asarray`` would take what lies under the mask."""
    if isinstance(reply, float | int | np.generic | str | bytes):
        return False
    if hasattr(reply, "detach"):  # a MaskedTensor of torch marks what is valid
        return hasattr(reply, "get_mask") and not bool(reply.get_mask().all())
    own: object = np.ma.getmaskarray(reply) if isinstance(reply, np.ma.MaskedArray) else getattr(reply, "mask", False)
    mask = np.asarray(own)
    if mask.dtype.kind in "bui" and mask.any():
        return True
    if isinstance(reply, np.ndarray):
        return reply.dtype.kind == "O" and any(map(_is_masked, reply.flat))
    if hasattr(reply, "__array__"):
        return _is_masked(np.asanyarray(reply))
    nested = hasattr(reply, "__len__") and hasattr(reply, "__getitem__") and not isinstance(reply, Mapping)
    return nested and any(_is_masked(reply[index]) for index in range(len(reply)))  # a sequence to numpy


def out_of_memory(error: BaseException) -> bool:
    """Whether an exception says that a device ran out of memory; torch raises its own class, or RuntimeError.

    >>> out_of_memory(RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"))
    True
    """
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and any(words in str(error).lower() for words in _MEMORY_WORDS)


def _image_problem(item: object) -> Problem | None:
    for image in images_in(item):
        try:
            image.load()
        except ImageError as error:
            return Problem(why=str(error), missing=isinstance(error, MissingImageError))
    return None
