import json
import math
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from builders import image, table, tabled, task_of
from hypothesis import given
from hypothesis import strategies as st

from vlgate.errors import ModelLoadError, NoReplyError
from vlgate.models import check, load
from vlgate.models.reference.blind import Blind
from vlgate.models.reference.controls import Constant, Oracle, Random
from vlgate.models.reference.replay import read_rows
from vlgate.types import TIED, Answerer, Ask, Case, Classifier, Compare, LanguageModel, Match, Matcher, Prepared


def match(key, text):
    return Match(image=image(key), text=text)


def ask(key, question, *choices):
    return Ask(image=image(key), question=question, choices=choices)


def task(*rows, name="a/b"):
    return task_of([Case(id=str(n), requests=(asked,), truths=(truth,)) for n, (asked, truth) in enumerate(rows)], name)


def test_protocols():
    assert isinstance(Oracle(), Prepared)
    assert isinstance(Constant(), LanguageModel)
    assert not isinstance(Random(), LanguageModel | Prepared)
    assert all(isinstance(model, Matcher) and isinstance(model, Answerer) for model in (Oracle(), Constant(), Random()))
    assert Oracle.decision_threshold == Constant.decision_threshold == Random.decision_threshold == 0.5


def test_the_oracle_knows_the_truths_and_nothing_else():
    oracle = Oracle()
    oracle.prepare([task((match("p", "cat"), True), (match("p", "dog"), False), (ask("p", "what?", "x", "y"), "y"))])
    scores = oracle.match([match("p", "dog"), match("p", "cat")])
    assert scores.tolist() == [0.0, 1.0]
    assert scores.dtype == np.float64
    assert oracle.answer([ask("p", "what?", "x", "y")]) == ["y"]
    oracle = Oracle()
    oracle.prepare([task((match("p", "cat"), True))])
    with pytest.raises(NoReplyError, match="2 of 3") as caught:
        oracle.match([match("q", "cat"), match("p", "cat"), match("p", "dog")])
    assert caught.value.positions == {0, 2}
    with pytest.raises(NoReplyError):
        oracle.answer([ask("p", "q")])


def test_a_text_that_is_true_anywhere_is_true_and_of_two_answers_the_first_prepared_holds():
    rows = (match("p", "cat"), True), (ask("p", "q"), "yes")
    tasks = [task(*rows), task((match("p", "cat"), False), (ask("p", "q"), "no"), name="a/c")]
    for order, answer in (((0, 1), "yes"), ((1, 0), "no")):
        oracle = Oracle()
        oracle.prepare([tasks[place] for place in order])
        assert oracle.match([match("p", "cat")]).tolist() == [1.0]
        assert oracle.answer([ask("p", "q")]) == [answer]


def test_the_constant_says_the_same():
    constant = Constant()
    assert constant.match([match("p", "cat"), match("q", "dog")]).tolist() == [0.0, 0.0]
    asked = [ask("p", "q", "No", "Yes"), ask("p", "q", "red", "blue"), ask("p", "q")]
    assert constant.answer(asked) == ["Yes", "red", "yes"]
    assert constant.perplexity(["a", "b"]).tolist() == [1.0, 1.0]


def test_chance_is_uniform_and_depends_on_seed_and_request_alone():
    pairs = [match(f"p{number}", f"text {number % 7}") for number in range(200)]
    scores = dict(zip(pairs, Random(seed=3).match(pairs), strict=True))
    shuffled = random.Random(0).sample(pairs, len(pairs))
    assert [scores[pair] for pair in shuffled] == Random(seed=3).match(shuffled).tolist()
    assert [Random(seed=3).match([pair])[0] for pair in pairs[:5]] == [scores[pair] for pair in pairs[:5]]
    assert not set(Random(seed=4).match(pairs)) & set(scores.values())
    scores = Random().match([match(str(number), "t") for number in range(20_000)])
    assert 0 <= scores.min() < scores.max() < 1
    assert np.histogram(scores, bins=10, range=(0, 1))[0] == pytest.approx(2_000, abs=200)


def test_chance_picks_a_choice_whatever_their_order():
    model = Random()
    one = model.answer([ask(str(number), "q", "a", "b", "c") for number in range(900)])
    assert one == model.answer([ask(str(number), "q", "c", "a", "b") for number in range(900)])
    assert all(one.count(choice) == pytest.approx(300, abs=60) for choice in "abc")
    assert set(model.answer([ask(str(number), "q") for number in range(50)])) == {"yes", "no"}


def compare(keys, question="which?"):
    return Compare(images=tuple(map(image, keys)), question=question, choices=("first", "second"))


def test_questions_about_several_images():
    questions = [compare("ab"), compare("ba")]
    cases = [Case(id=str(n), requests=tuple(questions), truths=("first", "second")) for n in range(3)]
    oracle, blind = Oracle(), Blind()
    for model in (oracle, blind):
        model.prepare([task_of(cases, shape="image_choice")])
    assert oracle.compare(questions) == ["first", "second"]
    with pytest.raises(NoReplyError):
        oracle.compare([compare("ab", "another?")])
    assert Constant().compare(questions) == ["first", "first"]
    many = [compare("ab", f"{n}?") for n in range(50)]
    found = Random(1).compare(many)
    assert set(found) == {"first", "second"}
    assert found == Random(1).compare(many) != Random(2).compare(many)
    assert found != Random(1).compare([compare("ba", f"{n}?") for n in range(50)])
    assert len(set(blind.compare(questions))) == 1  # it sees no image, so both orders have one answer


ROWS = [
    {"image": "a.jpg", "text": "a cat", "score": 0.5, "match": True},
    {"image": "a.jpg", "text": "a dog", "score": -1, "match": 0},
    {"image": "2357834#blur6", "text": "a dog", "score": 1e-300},
    {"image": "a.jpg", "question": "a cat?", "answer": "yes"},
    {"text": "a cat", "perplexity": 12},
]


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def parquet(rows, file):
    names = sorted({name for row in rows for name in row})
    pq.write_table(pa.Table.from_pydict({name: [row.get(name) for row in rows] for name in names}), file)


@pytest.fixture(params=["r.jsonl", "r.ndjson", "r.json", "r.parquet", "R.JSONL"])
def replay(request, tmp_path):
    file = tmp_path / request.param
    if file.suffix == ".parquet":
        parquet([{**row, "match": None if "match" not in row else bool(row["match"])} for row in ROWS], file)
    else:
        file.write_text(lines(ROWS))
    check(f"replay:{request.param}", folder=tmp_path)
    return load(f"replay:{request.param}", folder=tmp_path).model


def test_it_gives_what_was_recorded(replay):
    pairs = [match("2357834#blur6", "a dog"), match("a.jpg", "a dog"), match("a.jpg", "a cat")]
    assert replay.match(pairs).tolist() == [1e-300, -1.0, 0.5]
    assert np.array_equal(replay.accepts(pairs), [math.nan, 0.0, 1.0], equal_nan=True)
    assert replay.answer([ask("a.jpg", "a cat?")]) == ["yes"]
    assert replay.perplexity(["a cat"]).tolist() == [12.0]
    assert all(isinstance(replay, protocol) for protocol in (Matcher, Classifier, Answerer, LanguageModel))
    assert not hasattr(replay, "decision_threshold")


def test_all_that_is_missing_is_named_at_once(replay):
    pairs = [match("a.jpg", "a bee"), match("a.jpg", "a cat"), *(match("b.jpg", str(n)) for n in range(9))]
    expected = r"(?i)r\.\w+ .*score.*10 of 11.*\('a.jpg', 'a bee'\), \('b.jpg', '0'\)"
    with pytest.raises(NoReplyError, match=expected) as caught:
        replay.match(pairs)
    assert caught.value.positions == {0, *range(2, 11)}
    assert np.isnan(replay.accepts(pairs)[0])
    with pytest.raises(NoReplyError, match="no answer"):
        replay.answer([ask("a.jpg", "a dog?")])
    with pytest.raises(NoReplyError, match="no perplexity"):
        replay.perplexity(["a dog"])


def test_a_file_without_rows_of_a_kind(tmp_path):
    (tmp_path / "r.jsonl").write_text(lines(ROWS[:1]))
    with pytest.raises(NoReplyError, match="no answer rows"):
        load("replay:r.jsonl", folder=tmp_path).model.answer([ask("a.jpg", "a cat?")])


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(lines([*ROWS, *ROWS[::-1], ROWS[0]]), id="the same row twice is one"),
        pytest.param(
            "\ufeff\n" + lines(ROWS[:2]) + "\n \n" + json.dumps(ROWS[2]), id="empty lines, a byte order mark, no end"
        ),
        pytest.param(lines([*ROWS[:3], {**ROWS[0], "answer": None}]), id="a null counts as absent"),
        pytest.param(
            lines(ROWS[:2])
            + json.dumps({"image": "a", "text": "one\u2028two\x85three", "score": 1}, ensure_ascii=False),
            id="a separator of Unicode does not end a line",
        ),
    ],
)
def test_what_makes_no_row_or_line_of_its_own(tmp_path, content):
    (tmp_path / "r.jsonl").write_text(content, "utf-8")
    replies = read_rows(tmp_path / "r.jsonl")
    assert len(replies.scores) == 3
    assert replies.accepted == {("a.jpg", "a cat"): 1.0, ("a.jpg", "a dog"): 0.0}


@pytest.mark.parametrize(("line", "expected"), table(Path(__file__).with_name("bad_rows.tsv")))
def test_a_bad_row_is_named(tmp_path, line, expected):
    good = [
        {"image": "x", "text": "t", "score": 1, "match": True},
        {"image": "x", "question": "q", "answer": "yes"},
        {"images": ["x", "y"], "question": "q", "answer": "yes"},
        {"text": "x", "perplexity": 2.0},
    ]
    (tmp_path / "r.jsonl").write_text(lines(good) + line)
    with pytest.raises(ModelLoadError, match=f"r.jsonl, line 5: .*{expected}"):
        load("replay:r.jsonl", folder=tmp_path)


def odd_parquet(file):
    texts = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff\xfe"], pa.binary()).buffers())
    pq.write_table(pa.table({"image": ["a.jpg"], "text": texts, "score": [1.0]}), file)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("r.jsonl", lines(ROWS[:1]).encode() + b'{"text": "\xe9", "perplexity": 2}\n', r"line 2: .*UTF-8"),
        ("r.jsonl", b"", r"r\.jsonl: it has no rows"),
        ("r.jsonl", b"\n\n", r"r\.jsonl: it has no rows"),
        ("r.jsonl", b"{}[".replace(b"{}", b"[" * 100_000), r"r\.jsonl, line 1: .*nested"),
        ("bad.parquet", b"PAR1 nothing", r"bad\.parquet: .*Parquet"),
        ("none.parquet", [], r"none\.parquet: it has no rows"),
        ("r.parquet", [{"text": "b", "perplexity": 1.0}, {"text": "b", "perplexity": math.inf}],
         r"r\.parquet, row 2: perplexity=inf"),
        ("r.parquet", odd_parquet, r"r\.parquet.*utf-8"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_named(tmp_path, name, content, expected):
    file = tmp_path / name
    if callable(content):
        content(file)
    elif isinstance(content, list):
        parquet(content, file)
    else:
        file.write_bytes(content)
    with pytest.raises(ModelLoadError, match=expected):
        read_rows(file)


@pytest.mark.parametrize("ask", [check, load])
@tabled
def test_a_file_that_does_not_exist_or_has_another_suffix(tmp_path, ask, name, expected):
    (tmp_path / "replies.jsonl").write_text(lines(ROWS))
    with pytest.raises(ModelLoadError, match=expected):
        ask(f"replay:{name}", folder=tmp_path)


@pytest.mark.parametrize("written", ["img/1.png", "./img/1.png", "img\\1.png", "img//1.png", "img/cafe\u0301/../1.png"])
def test_a_row_may_spell_the_path_of_an_image_in_another_way(tmp_path, written):
    (tmp_path / "r.jsonl").write_text(lines([{"image": written, "text": "t", "score": 0.5}]))
    assert load("replay:r.jsonl", folder=tmp_path).model.match([match("img/1.png", "t")]) == [0.5]


def test_the_fingerprint_is_that_of_the_content(tmp_path):
    for name, rows in (("a.jsonl", ROWS), ("b.jsonl", ROWS), ("c.jsonl", ROWS[:1])):
        (tmp_path / name).write_text(lines(rows))
    first, second, third = (load(f"replay:{name}.jsonl", folder=tmp_path).fingerprint for name in "abc")
    assert first == second != third


def replay_of(folder, *rows):
    """A model with replies to questions about several images."""
    said = [dict(zip(("images", "answer", "question"), (*row, "which?"), strict=False)) for row in rows]
    (folder / "r.jsonl").write_text(lines(said))
    return load("replay:r.jsonl", folder=folder).model


def test_rows_are_found_by_the_images_in_their_order(tmp_path):
    model = replay_of(tmp_path, (["a", "b"], "first"), (["b", "a"], "Second."), (["a", "b"], TIED, "or?"))
    assert model.compare([compare("ba"), compare("ab"), compare("ab", "or?")]) == ["Second.", "first", TIED]
    with pytest.raises(NoReplyError, match=r"about several images.*\('a', 'a'\)"):
        model.compare([compare("aa")])


@pytest.mark.parametrize("names", [["./a", "b"], ["a", "./b"], ["././a", "b"], ["./a", "./b"]])
def test_rows_are_found_by_any_spelling_of_the_paths(tmp_path, names):
    assert replay_of(tmp_path, (names, "first")).compare([compare("ab")]) == ["first"]


def test_the_exact_spelling_goes_before_another_one_and_rows_that_contradict_each_other_are_none(tmp_path):
    model = replay_of(tmp_path, (["./a", "b"], "second"), (["a", "b"], "first"))
    assert model.compare([compare("ab")]) == ["first"]
    with pytest.raises(NoReplyError):
        replay_of(tmp_path, (["./a", "b"], "second"), (["a", "./b"], "first")).compare([compare("ab")])
    rows = [{"image": name, "text": "t", "score": score} for name, score in (("./1.png", 0.5), ("a/../1.png", 0.7))]
    (tmp_path / "r.jsonl").write_text(lines(rows))
    with pytest.raises(NoReplyError):
        load("replay:r.jsonl", folder=tmp_path).model.match([match("1.png", "t")])


texts = st.text(max_size=8)
numbers = st.floats(allow_nan=False, allow_infinity=False)


@given(
    scores=st.dictionaries(st.tuples(texts, texts), st.tuples(numbers, st.none() | st.booleans()), max_size=9),
    answers=st.dictionaries(st.tuples(texts, texts), texts, max_size=9),
    perplexities=st.dictionaries(texts, numbers.filter(lambda number: number > 0), min_size=1, max_size=9),
    escaped=st.booleans(),
)
def test_any_rows_are_read_as_they_were_written(tmp_path_factory, scores, answers, perplexities, escaped):
    rows = [{"image": i, "text": t, "score": s, "match": m} for (i, t), (s, m) in scores.items()]
    rows += [{"image": i, "question": q, "answer": a} for (i, q), a in answers.items()]
    rows += [{"text": t, "perplexity": p} for t, p in perplexities.items()]
    folder = tmp_path_factory.getbasetemp()
    json_lines = "".join(json.dumps(row, ensure_ascii=escaped) + "\n" for row in rows)
    (folder / "any.jsonl").write_bytes(json_lines.encode())
    parquet(rows, folder / "any.parquet")
    for file in (folder / "any.jsonl", folder / "any.parquet"):
        replies = read_rows(Path(file))
        assert replies.scores == {key: score for key, (score, _) in scores.items()}
        assert replies.accepted == {key: float(m) for key, (_, m) in scores.items() if m is not None}
        assert replies.answers == answers
        assert replies.perplexities == perplexities
