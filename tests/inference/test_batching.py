import math

import numpy as np
import pytest
from builders import tabled
from hypothesis import given
from hypothesis import strategies as st

from vlgate.asking.batching import Call, Caller, Problem
from vlgate.errors import ImageError, MissingImageError, ModelReplyError, NoReplyError
from vlgate.types import Ask, LazyImage, Match

NAN, INF = math.nan, math.inf
MASKING_NOTHING = [False, [False, False, False], np.ma.nomask]


class OutOfMemoryError(RuntimeError):
    """Has the name of torch's own error."""


WORDS = (
    "CUDA out of memory. Tried to allocate 2.00 GiB", "MPS backend out of memory",
    "[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes",
    "DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes",
)  # fmt: skip
MEMORY = [MemoryError(), *map(RuntimeError, WORDS), OutOfMemoryError("no words that are known")]


def match(method, **how):
    return Call(called="match", method=method, **how)


def caller(size=4):
    return Caller(name="lxmert", size=size)


def doubled(items):
    return np.array(items, dtype=float) * 2


def lengths(calls, method):
    """A method that does the same as ``method`` and notes the size of each batch."""

    def noted(items):
        calls.append(len(items))
        return method(items)

    return noted


def raising(error):
    def method(*_):
        raise error

    return method


def ask(method, n=3, *, called="match", kind="numbers", **how):
    """The replies of a method to n numbers."""
    return caller().ask(Call(called=called, method=method, kind=kind, **how), range(n))


@given(st.lists(st.integers(-100, 100), max_size=30), st.integers(1, 8))
def test_every_item_gets_its_own_reply_whatever_the_batch_size(items, size):
    calls = []
    assert caller(size).ask(match(lengths(calls, doubled)), items) == [2.0 * item for item in items]
    assert sum(calls) == len(items)
    assert calls == [size] * (len(items) // size) + ([len(items) % size] if len(items) % size else [])


@pytest.mark.parametrize("dtype", ["float64", "float32", "torch"])
@pytest.mark.parametrize("shape", [(4,), (4, 3)], ids=["numbers", "rows"])
def test_replies_stay_as_they_were_if_the_model_fills_one_array_anew_in_each_call(shape, dtype):
    torch = pytest.importorskip("torch") if dtype == "torch" else None
    buffer = np.zeros(shape, "float64" if torch else dtype)
    shown = torch.from_numpy(buffer) if torch else buffer  # the tensor has the memory of the array

    def fills(items):
        buffer[: len(items)] = np.array(items).reshape(-1, *(1 for _ in shape[1:]))
        return shown[: len(items)]

    replies = ask(fills, 10, kind="rows" if shape[1:] else "numbers")
    np.testing.assert_array_equal(replies, np.broadcast_to(np.arange(10.0), (*shape[:0:-1], 10)).T)


@pytest.mark.parametrize("kind", ["numbers", "rows", "strings"])
def test_without_items_the_model_is_not_called(kind):
    assert list(ask(raising(AssertionError), 0, kind=kind)) == []


@pytest.mark.parametrize("error", MEMORY, ids=lambda error: f"{type(error).__name__}: {error}")
def test_a_batch_that_is_too_large_is_halved_and_the_size_is_remembered(error):
    calls = []

    def at_most_two(items):
        if len(items) > 2:
            raise error
        return doubled(items)

    one = caller(8)
    assert one.ask(match(lengths(calls, at_most_two)), range(8)) == [2.0 * item for item in range(8)]
    assert calls == [8, 4, 2, 2, 2, 2]
    assert one.size == 2
    calls.clear()
    one.ask(match(lengths(calls, at_most_two)), range(4))
    assert calls == [2, 2]


def test_what_was_replied_before_memory_ran_out_is_not_asked_again():
    calls, refused = [], []

    def tired(items):
        calls.append(list(items))
        if items[0] >= 4 and len(items) == 4 and not refused:
            refused.append(items)
            raise MemoryError
        return doubled(items)

    assert caller(4).ask(match(tired), range(8)) == [2.0 * item for item in range(8)]
    assert calls == [[0, 1, 2, 3], [4, 5, 6, 7], [4, 5], [6, 7]]


@pytest.mark.parametrize("error", MEMORY, ids=lambda error: f"{type(error).__name__}: {error}")
def test_out_of_memory_on_a_batch_of_one_is_an_error_that_names_the_model(error):
    with pytest.raises(ModelReplyError, match=r"'lxmert' runs out of memory") as caught:
        caller(4).ask(match(raising(error)), range(4))
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("error", [
    RuntimeError("shapes (3, 4) and (5,)"), KeyError("x"), OSError(28, "No space"), KeyError("out of memory"),
    RuntimeError("memory format must be channels_last"),  # which only mentions memory
])  # fmt: skip
def test_whatever_else_the_model_raises_passes_through_unchanged(error):
    calls = []
    with pytest.raises(type(error)) as caught:
        caller(4).ask(match(lengths(calls, raising(error))), range(4))
    assert caught.value is error
    assert calls == [4]


class Tensor:
    """What numpy reads by ``read``, or cannot read."""

    def __init__(self, read):
        self.read = read

    def __array__(self, dtype=None, copy=None):
        return self.read()


ON_GPU = Tensor(raising(TypeError("can't convert cuda:0 device type tensor to numpy")))
WITH_GRADIENT = Tensor(raising(RuntimeError("Can't call numpy() on Tensor that requires grad.")))


@tabled
def test_scores_features_and_answers_that_cannot_be_used_name_the_model_and_the_method(kind, n, reply, says):
    called = {"numbers": "match", "rows": "encode_texts", "strings": "answer"}[kind]
    with pytest.raises(ModelReplyError, match=rf"{called}\(\).*'lxmert'.*{says}"):
        ask(lambda _: reply, n, called=called, kind=kind)


@pytest.mark.parametrize(("kind", "reply", "says"), [
    ("numbers", ON_GPU, "Tensor .*cuda:0"), ("numbers", WITH_GRADIENT, "Tensor .*requires grad"),
    ("rows", np.zeros((3, 3, 3)), r"shape \(3, 3, 3\) for n = 3"), ("strings", iter(["yes"] * 3), "list_iterator"),
    ("strings", [b"yes", "no", "no"], "b'yes',"),
])  # fmt: skip
def test_so_do_replies_of_other_types(kind, reply, says):
    with pytest.raises(ModelReplyError, match=says):
        ask(lambda _: reply, kind=kind)


@pytest.mark.parametrize("reply", [
    [1, 2, 3], (1.0, 2.0, 3.0), np.array([1, 2, 3], dtype=np.float16), np.array([True, False, True]),
    Tensor(lambda: np.array([1.0, 2.0, 3.0])), *(np.ma.masked_array([1.0, 2.0, 3.0], mask=m) for m in MASKING_NOTHING),
])  # fmt: skip
def test_whatever_numpy_reads_as_n_numbers_is_a_reply(reply):
    assert ask(lambda _: reply) == np.asarray(reply, dtype=float).tolist()


def test_nan_is_a_reply_only_if_it_means_no_opinion_and_infinity_never():
    found = ask(lambda _: [1.0, NAN, 0.0], nan=True)
    assert np.array_equal(found, [1.0, NAN, 0.0], equal_nan=True)
    with pytest.raises(ModelReplyError, match=r"match\(\).*inf for item 1 of 3"):
        ask(lambda _: [NAN, INF, 0.0], nan=True)


def test_each_item_gets_its_row_of_features_and_answers_may_be_any_sequence_of_strings():
    features = np.arange(10.0).reshape(5, 2)
    assert np.array_equal(ask(lambda items: features[list(items)], 5, kind="rows"), features)
    assert ask(lambda _: ("yes", ""), 2, kind="strings") == ["yes", ""]


def good(key):
    return LazyImage(key=key, load=object)


def bad(key, error=ImageError):
    def load():
        raise error(key, "it is broken", "replace it")

    return LazyImage(key=key, load=load)


def decoding(items):
    """A model that decodes every image of a batch and raises at the first one that cannot be decoded."""
    for item in items:
        image = item if isinstance(item, LazyImage) else item.image
        image.load()
    return [float(len(items))] * len(items)


@pytest.mark.parametrize(
    "wrapped", [lambda p: p, lambda p: Match(image=p, text="t"), lambda p: Ask(image=p, question="q")]
)
def test_a_bad_image_affects_its_own_items_and_not_its_neighbours(wrapped):
    items = [wrapped(p) for p in (good("a"), bad("b"), good("c"), bad("d", MissingImageError), good("e"))]
    found = caller(8).ask(match(decoding), items)
    assert [found[place] for place in (0, 2, 4)] == [3.0] * 3
    assert found[1] == Problem(why="image 'b': it is broken; replace it")
    assert found[3] == Problem(why="image 'd': it is broken; replace it", missing=True)
    calls = []
    assert caller(8).ask(match(lengths(calls, decoding)), [items[1], items[3]]) == [found[1], found[3]]
    assert calls == [2]


def test_a_model_that_blames_a_good_image_is_at_fault_itself():
    error = ImageError("a", "is too dark", "use a lamp")
    for items in ([good("a"), good("b")], ["a text"]):  # a text has no image that could be bad
        with pytest.raises(ModelReplyError, match=r"raised ImageError.*image 'a': is too dark") as caught:
            caller().ask(match(raising(error)), items)
        assert caught.value.__cause__ is error


def test_items_without_a_reply_are_not_asked_again_and_the_others_keep_theirs():
    calls = []

    def only_even(items):
        missing = [index for index, item in enumerate(items) if item % 2]
        if missing:
            raise NoReplyError(missing, f"{len(missing)} have no row")
        return doubled(items)

    found = caller(4).ask(match(lengths(calls, only_even)), range(6))
    two, one = Problem(why="2 have no row"), Problem(why="1 have no row")
    assert found == [0.0, two, 4.0, two, 8.0, one]
    assert calls == [4, 2, 2, 1]


def test_positions_without_a_reply_are_counted_in_the_batch_that_the_model_was_called_with():
    answered = {"a": None, "b": "no row for b", "c": 3.0, "d": "no row for d"}

    def one_at_a_time(items):
        for index, item in enumerate(items):
            if isinstance(answered[item], str):
                raise NoReplyError([index], answered[item])
        return [answered[item] or 1.0 for item in items]

    found = caller(4).ask(match(one_at_a_time), list(answered))
    assert found == [1.0, Problem(why="no row for b"), 3.0, Problem(why="no row for d")]


@pytest.mark.parametrize("positions", [[], [3], [-1]])
def test_an_error_that_names_no_position_that_was_asked_is_the_models(positions):
    with pytest.raises(ModelReplyError, match=r"NoReplyError.*nothing at all"):
        ask(raising(NoReplyError(positions, "nothing at all")))


def test_bad_images_missing_rows_and_a_lack_of_memory_may_come_together():
    items = [Match(image=p, text=str(n)) for n, p in enumerate([good("a"), bad("b"), good("c"), good("d"), good("e")])]

    def difficult(batch):
        if len(batch) > 3:
            raise MemoryError
        decoding(batch)
        missing = [index for index, item in enumerate(batch) if item.image.key == "d"]
        if missing:
            raise NoReplyError(missing, "no row")
        return [float(item.text) for item in batch]

    found = caller(5).ask(match(difficult), items)
    said = [reply if isinstance(reply, float) else reply.why.split(";")[0] for reply in found]
    assert said == [0.0, "image 'b': it is broken", 2.0, "no row", 4.0]


class Masked(np.ndarray):
    mask = np.array([False, True])


LATER = Tensor(lambda: np.ma.masked_array([1.0, 2.0], mask=[False, True]))


class Lying(np.ma.MaskedArray):
    def __array__(self, dtype=None, copy=None):
        return np.array(self.data)


def boxed(*values):
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


MASKED = [
    np.ma.masked_array([1.0, 2.0], mask=[False, True]),
    np.ma.masked_array([1.0, 2.0], mask=True).astype(np.float16),
    np.ma.masked_array([1, 2], mask=[True, False]),
    np.ma.masked_array(np.array([1.0, 2.0], dtype=object), mask=[False, True]),
    [1.0, np.ma.masked],
    (np.ma.masked_array(1.0, mask=True), 2.0),
    boxed(1.0, np.ma.masked),
    boxed(np.ma.masked_array(1.0, mask=True), 2.0),
    np.array([1.0, 2.0]).view(Masked),
    LATER,
    [LATER, 1.0],
    Lying([1.0, 2.0], mask=[False, True]),
]


@pytest.mark.parametrize("reply", MASKED, ids=lambda reply: type(reply).__name__)
@pytest.mark.parametrize("nan", [False, True])
def test_a_masked_number_is_refused_whatever_lies_under_the_mask(reply, nan):
    with pytest.raises(ModelReplyError, match=r"match\(\).*some of its numbers are masked.*finite numbers"):
        ask(lambda _: reply, 2, nan=nan)


def test_masked_rows_missing_numbers_of_pandas_and_masked_tensors_are_refused():
    rows = np.ma.masked_array(np.ones((2, 3)), mask=np.eye(2, 3) == 1)
    for reply in (rows, list(rows), rows.astype(object)):
        with pytest.raises(ModelReplyError, match="some of its numbers are masked"):
            ask(lambda _, reply=reply: reply, 2, kind="rows")
    pandas, torch = pytest.importorskip("pandas"), pytest.importorskip("torch")
    some = torch.tensor([1.0, 2.0])
    with pytest.warns(UserWarning, match="prototype"):
        hidden = torch.masked.masked_tensor(some, torch.tensor([True, False]))
    nested = torch.nested.nested_tensor([some, some[:1]], layout=torch.jagged)
    missing = [pandas.array([1.0, None], dtype="Float64"), pandas.Series([1, None], dtype="Int64"), [1.0, pandas.NA]]
    for reply in (*missing, hidden, nested):
        with pytest.raises(ModelReplyError):
            ask(lambda _, reply=reply: reply, 2)
