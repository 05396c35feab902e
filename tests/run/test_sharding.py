"""The parts of a plan, what is asked together, and the count of images before the first test."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from builders import image
from hypothesis import given, settings
from hypothesis import strategies as st

from vlgate.errors import OptionError
from vlgate.images.files import file_image, missing_image
from vlgate.metrics.compute import columns_of
from vlgate.perturb.images import perturbed
from vlgate.record.digests import digest
from vlgate.record.json_files import environment_content
from vlgate.record.model_card import CacheUse
from vlgate.record.options import Options, Shard, options_from, read_shard
from vlgate.record.part_files import images_digest
from vlgate.run.census import count, partly_missing, refuse_missing
from vlgate.run.planning import make_plan
from vlgate.run.sampling import FINEST, IMAGE, costs, image_of, part_of, parts_of
from vlgate.run.together import asked_together
from vlgate.types import Ask, Case, Compare, LazyImage, Match, Read, Task, images_of, text_of


def case_of(name, key, requests):
    shown = LazyImage(key=key, load=lambda: None)
    asked = tuple(Match(image=shown, text=f"{name} {i}") if key else Read(text=f"{name} {i}") for i in range(requests))
    return Case(id=name, requests=asked, truths=(True,) * requests)


@st.composite
def plans(draw):
    """Some tasks with cases of two to four requests, on images that they share, and some without an image."""
    tasks = []
    for number in range(draw(st.integers(1, 4))):
        n, images, requests = draw(st.integers(1, 300)), draw(st.integers(0, 60)), draw(st.sampled_from([2, 4]))
        keys = [f"{i * 7919 % images}.jpg" if images else "" for i in range(n)]
        cases = tuple(case_of(f"c{i}", key, requests) for i, key in enumerate(keys))
        tasks.append(Task(id=f"own/t{number}", capability="foil", shape="pair", cases=cases))
    return tasks


@given(plans(), st.integers(1, 9))
@settings(max_examples=60)
def test_parts_are_disjoint_cover_everything_and_are_balanced(tasks, of):
    n = sum(len(task.cases) for task in tasks)
    if n < of:
        with pytest.raises(OptionError, match=f"{n:,} cases make at most {n:,} parts"):
            parts_of(tasks, of)
        return
    parts = parts_of(tasks, of)
    for task in tasks:
        places = [place for part in parts for place in part[task.id]]
        assert sorted(places) == list(range(len(task.cases)))
    assert all(any(part.values()) for part in parts)
    spent = costs(tasks, parts)
    largest = max(len(one.requests) for task in tasks for one in task.cases) + IMAGE
    images = {image_of(one) for task in tasks for one in task.cases}
    shared = IMAGE * len(images)  # at most: parts that share an image all decode it
    assert max(spent) - min(spent) <= max(largest, sum(spent) / of / FINEST) + shared
    if min(spent) > 20 * (largest + shared):
        assert max(spent) <= 1.1 * min(spent)


@given(plans(), st.integers(2, 5))
@settings(max_examples=30)
def test_an_image_of_a_few_cases_is_in_one_part(tasks, of):
    if sum(len(task.cases) for task in tasks) < 40 * of:
        return
    parts = parts_of(tasks, of)
    whole = costs(tasks, [{task.id: range(len(task.cases)) for task in tasks}])[0]
    by_image, where = {}, {}
    for task in tasks:
        for number, part in enumerate(parts):
            for place in part[task.id]:
                one = task.cases[place]
                by_image[image_of(one)] = by_image.get(image_of(one), IMAGE) + len(one.requests)
                where.setdefault(image_of(one), set()).add(number)
    for key, cost in by_image.items():
        if key and cost <= whole / of / FINEST:
            assert len(where[key]) == 1


def test_the_order_of_the_patterns_changes_nothing_and_each_part_has_its_share_of_each_task():
    def shared(*suite):
        options = Options(folder=Path(), suite=suite, thresholds=None, results=Path(), shard=Shard(number=2, of=3))
        return {name: batch.positions for name, batch in make_plan(options).batches.items()}

    found = shared("scenes/foil-it", "scenes/attributes", "scenes/negation-dir")
    assert found == shared("scenes/negation-dir", "scenes/attributes", "scenes/foil-it")
    assert {name.partition(":")[0] for name in found} == {"scenes/foil-it", "scenes/attributes", "scenes/negation-dir"}
    options = Options(folder=Path(), suite=("scenes/*-inv", "scenes/*-it"), thresholds=None, results=Path())
    tasks = make_plan(options).tasks
    for task in tasks:
        shares = [len(part[task.id]) for part in parts_of(tasks, 3)]
        assert max(shares) - min(shares) <= len(task.cases) / 3


def test_one_part_is_that_of_all_and_options_come_back_from_their_json():
    for text in ("0/3", "4/3", "3", "a/b", "1/0", "-1/2", "1/2/3"):
        with pytest.raises(ValueError):  # noqa: PT011  # the caller says which option
            read_shard(text)
    assert read_shard("1/1") == Shard(number=1, of=1)
    assert str(read_shard("2/4")) == "part 2 of 4"
    tasks = [
        Task(id="own/a", capability="foil", shape="pair", cases=(case_of("a", "1.jpg", 2), case_of("b", "2.jpg", 2)))
    ]
    assert [part_of(tasks, Shard(number=i, of=2)) for i in (1, 2)] == parts_of(tasks, 2)
    given = {"suite": ("scenes/*",), "data": (Path("/d"),), "cache": Path("c"), "protocols": frozenset({"x"})}
    shard = Shard(number=1, of=2)
    options = Options(folder=Path("/a"), thresholds=Path("t.toml"), results=Path("r"), shard=shard, **given)
    assert options_from(environment_content(options, 1, CacheUse())["options"]) == options
    with pytest.raises(ValueError, match="this version"):
        options_from({"folder": "/a"})


def test_another_size_of_a_file_is_another_digest_and_another_folder_is_not(tmp_path):
    def images(folder, size):
        file = tmp_path / folder / "1.jpg"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(b"x" * size)
        shown = LazyImage(key="1.jpg", load=lambda: None, where=str(file))
        blurred = replace(shown, key="1.jpg#blur", where=f"{file}#blur@1")
        requests = (Ask(image=shown, question="?"), Ask(image=blurred, question="?"))
        one = Case(id="a", requests=requests, truths=("", ""))
        return images_digest([Task(id="own/a", capability="foil", shape="questions", cases=(one,))])

    assert images("here", 5) == images("there", 5) != images("here", 6)


A, B, C = map(image, "abc")


def options_of(**changes):
    return Options(folder=Path(), thresholds=None, results=Path("out"), **changes)


def of(shape, requests, truths, **fields):
    case = Case(id="1", requests=requests, truths=truths, tags={"tag": "Object"}, file="file, record 1", **fields)
    return Task(id="x/y", capability="compositional", shape=shape, cases=(case,), left_out={"blank": 2}, note="a note")


def rewritten(task):
    [found], note = asked_together([task], 0)
    return found.cases[0], note


def shown(requests, truths):
    """The images of each request, its text and its truth."""
    return [("".join(image.key for image in r.images), r.question, t) for r, t in zip(requests, truths, strict=True)]


PAIRS = tuple(Match(image=image, text=text) for image in (A, B) for text in ("a cup", "a cat"))
QUAD = of("quad", PAIRS, (True, False, False, True))


def test_a_quad_becomes_four_choices_in_two_orders_and_a_question_is_asked_beside_the_other_image():
    case, note = rewritten(QUAD)
    texts, images = case.requests[:4], case.requests[4:]
    assert [text.image.key for text in texts] == ["a", "a", "b", "b"]
    assert case.truths[:4] == ("first", "second", "second", "first")
    assert texts[0].question.index("a cup") < texts[0].question.index("a cat")
    assert texts[1].question.index("a cat") < texts[1].question.index("a cup")
    assert all(isinstance(text, Ask) and text.choices == ("first", "second") for text in texts)
    assert [(keys, text[-8:], truth) for keys, text, truth in shown(images, case.truths[4:])] == [
        ("ab", ' "a cup"', "first"), ("ba", ' "a cup"', "second"),
        ("ab", ' "a cat"', "second"), ("ba", ' "a cat"', "first"),
    ]  # fmt: skip
    assert "x/y" in note
    assert "--ask=together" in note
    texts = ("A cup?", "A cat?")
    asked = tuple(Ask(image=image, question=text, choices=("yes", "no")) for image in (A, B) for text in texts)
    case, _ = rewritten(of("question_quad", asked, ("yes", "no", "no", "yes")))
    found = shown(case.requests, case.truths)
    assert [*found[:2], *found[6:]] == [
        ("ab", "About the first image: A cup?", "yes"), ("ba", "About the second image: A cup?", "yes"),
        ("ba", "About the first image: A cat?", "yes"), ("ab", "About the second image: A cat?", "yes"),
    ]  # fmt: skip
    [found], _ = asked_together([QUAD], 0)
    names = ("id", "shape", "capability", "left_out", "note")
    assert [getattr(found, name) for name in names] == [getattr(QUAD, name) for name in names]
    assert (found.cases[0].tags, found.cases[0].origin) == (QUAD.cases[0].tags, QUAD.cases[0].origin)
    assert found.together
    assert not QUAD.together


def test_tasks_of_one_image_stay_as_they_are_and_alone_are_refused():
    pair = of("pair", tuple(Match(image=A, text=text) for text in ("a cup", "a cat")), (True, False))
    found, note = asked_together([pair, QUAD], 0)
    assert found[0] is pair
    assert note.count("x/y") == 1
    with pytest.raises(OptionError, match=r"--ask=together: no case of these tasks has several images; .*winoground"):
        asked_together([pair], 0)


def test_equal_images_or_texts_do_not_end_the_run_and_the_order_depends_on_the_seed_only():
    case, _ = rewritten(of("quad", tuple(Match(image=A, text="a cup") for _ in range(4)), (True, False, False, True)))
    assert len(case.requests) == 8
    asked = tuple(Ask(image=A, question="A cup?", choices=("yes", "no")) for _ in range(2))
    case, _ = rewritten(of("twin_questions", asked, ("yes", "no")))
    assert all(request.images == (A, A) for request in case.requests)
    task = of("image_choice", tuple(Match(image=image, text="a cup") for image in (A, B, C)), (True, False, False))
    firsts = [asked_together([task], seed)[0][0].cases[0].requests[0] for seed in range(40)]
    assert len({tuple(image.key for image in request.images) for request in firsts}) == 6
    assert asked_together([task], 7) == asked_together([task], 7)


def test_cases_about_one_image_stay_in_one_cluster():
    """The design effect counts the cases of an image, which is that of the text, not the one that is shown first."""
    asked = [tuple(Match(image=image, text=f"{n}") for image in (A, image(f"o{n}"))) for n in range(20)]
    cases = tuple(Case(id=str(n), requests=pair, truths=(True, False)) for n, pair in enumerate(asked))
    task = Task(id="x/y", capability="foil", shape="image_choice", cases=cases)
    for one in (task, asked_together([task], 0)[0][0]):
        n = sum(len(case.requests) for case in one.cases)
        found = columns_of("image_choice", one.cases, [{"top1_image": 1.0}] * 20, np.zeros(n), np.zeros(n))
        assert set(found.images.tolist()) == {0}


def test_a_plan_names_what_is_asked_together_and_asks_something_else():
    apart = make_plan(options_of(suite=("scenes/word-swap", "scenes/relations")))
    plan = make_plan(options_of(suite=("scenes/word-swap", "scenes/relations"), ask="together"))
    assert [task.together for task in plan.tasks] == [task.id == "scenes/word-swap" for task in plan.tasks]
    assert any("scenes/word-swap" in note and "scenes/relations" not in note for note in plan.notes)
    assert digest(apart.tasks) != digest(plan.tasks)
    assert list(apart.batches) != []
    assert len(apart.batches) == len(plan.batches)
    assert not any(isinstance(r, Compare) for task in apart.tasks for case in task.cases for r in case.requests)
    for task, other in zip(apart.tasks, plan.tasks, strict=True):
        for case, again in zip(task.cases, other.cases, strict=True):
            assert {i for r in case.requests for i in images_of(r)} == {i for r in again.requests for i in images_of(r)}
            assert all(any(text_of(r) in text_of(new) for new in again.requests) for r in case.requests)


def task(here, cases, name="mine/pairs"):
    def image(place):
        key = f"{place}.jpg"
        return file_image(key, f"/data/{key}") if place < here else missing_image(key, ["/data/images"])

    made = [Case(id=str(n), requests=(Match(image=image(n), text="a"),), truths=(True,)) for n in range(cases)]
    return Task(id=name, capability="foil", shape="pair", cases=tuple(made))


def test_a_case_counts_if_all_of_its_images_have_a_file():
    there, gone = file_image("1.jpg", "/data/1.jpg"), missing_image("2.jpg", [])
    blurred = perturbed(gone, "flip")
    asked = [(there, there), (there, gone), (there, blurred), (perturbed(there, "flip"), there)]
    cases = [
        Case(id=str(n), requests=tuple(Ask(image=one, question="?") for one in pair), truths=("a", "b"))
        for n, pair in enumerate(asked)
    ]
    text = Case(id="text", requests=(Read(text="a"),), truths=(True,))
    found = count(Task(id="mine/q", capability="foil", shape="questions", cases=(*cases, text)))
    assert (found.cases, found.found, found.missing[0]) == (5, 3, gone)


def test_missing_images_are_named_however_many_cases_share_the_first_one():
    asked = [("a", 1500), ("b", 1), ("c", 1), ("d", 1)]
    missing = [missing_image(f"{key}.jpg", ["/data"]) for key, number in asked for _ in range(number)]
    cases = (Case(id=str(n), requests=(Match(image=one, text="a"),), truths=(True,)) for n, one in enumerate(missing))
    found = count(Task(id="mine/pairs", capability="foil", shape="pair", cases=tuple(cases)))
    assert found.lacking == "1,503 of 1,503 cases lack their image (a.jpg, b.jpg, c.jpg, ...)"


@pytest.mark.parametrize(("here", "cases", "refused"), [(95, 100, False), (94, 100, True), (0, 1, True), (3, 3, False)])
def test_a_run_needs_the_images_of_95_percent_of_each_task(here, cases, refused):
    tasks = [task(here, cases), task(2000, 2000, "mine/whole")]
    if not refused:
        refuse_missing(tasks)
        return
    with pytest.raises(OptionError) as caught:
        refuse_missing(tasks)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith(f"{here} of {cases} cases have their image: ")
    assert "--missing-images skip" in lines[0]
    assert lines[1].strip() == f"mine/pairs: {here} of {cases} cases have their image"
    assert "/data/images" in lines[2]
    assert len(lines) == 3


def test_tasks_that_lack_images_are_named_at_most_ten_of_them():
    with pytest.raises(OptionError) as caught:
        refuse_missing(task(1, 1000, f"mine/{n}") for n in range(29))
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("29 of 29,000 cases have their image")
    assert sum("mine/" in line for line in lines) == 10
    assert any("19 more tasks" in line for line in lines)
    whole, texts = task(3, 3, "mine/whole"), task(0, 9, "mine/texts")
    assert partly_missing([whole, texts]) == ()
    [line] = partly_missing([whole, texts, task(99, 100)])
    assert line.startswith("mine/pairs: 99 of 100 cases have their image; for example image '99.jpg': not found")
    lines = partly_missing([task(1, 2, f"mine/{number}") for number in range(13)])
    assert len(lines) == 11
    assert lines[-1] == "and 3 more tasks lack some images; vlgate tasks lists them all"


def test_the_plan_of_a_run_counts_missing_images_for_every_model(tmp_path):
    (tmp_path / "1.png").touch()
    fields = {"task": "mine/a", "caption": "a cup", "foil": "a hat"}
    lines = [json.dumps(fields | {"id": name, "image": f"{name}.png"}) + "\n" for name in "12"]
    (tmp_path / "cases.jsonl").write_text("".join(lines))
    options = Options(folder=tmp_path, thresholds=tmp_path, results=tmp_path, model="blind", data=(tmp_path,))
    [note] = make_plan(options).notes
    assert note.startswith("mine/a: 1 of 2 cases have their image; for example image '2.png': not found; looked in ")
