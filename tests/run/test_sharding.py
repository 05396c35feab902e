"""The parts of a plan: they share no case, cover all, cost nearly the same, and depend on the cases only."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vlgate.errors import OptionError
from vlgate.record.options import Options, Shard, options_from, read_shard
from vlgate.record.part_files import images_digest
from vlgate.run.planning import make_plan
from vlgate.run.sampling import FINEST, IMAGE, costs, image_of, part_of, parts_of
from vlgate.types import Ask, Case, LazyImage, Match, Read, Task


def case(name, image, requests):
    shown = LazyImage(key=image, load=lambda: None)
    asked = tuple(
        Match(image=shown, text=f"{name} {i}") if image else Read(text=f"{name} {i}") for i in range(requests)
    )
    return Case(id=name, requests=asked, truths=(True,) * requests)


@st.composite
def plans(draw):
    """Some tasks with cases of two to four requests, on images that they share, and some without an image."""
    tasks = []
    for number in range(draw(st.integers(1, 4))):
        n, images, requests = draw(st.integers(1, 300)), draw(st.integers(0, 60)), draw(st.sampled_from([2, 4]))
        keys = [f"{i * 7919 % images}.jpg" if images else "" for i in range(n)]
        cases = tuple(case(f"c{i}", key, requests) for i, key in enumerate(keys))
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
    for image, cost in by_image.items():
        if image and cost <= whole / of / FINEST:
            assert len(where[image]) == 1


def test_the_order_of_the_patterns_changes_nothing():
    def shared(*suite):
        options = Options(folder=Path(), suite=suite, thresholds=None, results=Path(), shard=Shard(number=2, of=3))
        return {name: batch.positions for name, batch in make_plan(options).batches.items()}

    found = shared("scenes/foil-it", "scenes/attributes", "scenes/negation-dir")
    assert found == shared("scenes/negation-dir", "scenes/attributes", "scenes/foil-it")
    assert {name.partition(":")[0] for name in found} == {"scenes/foil-it", "scenes/attributes", "scenes/negation-dir"}


def test_each_part_has_its_share_of_each_task():
    options = Options(folder=Path(), suite=("scenes/*-inv", "scenes/*-it"), thresholds=None, results=Path())
    tasks = make_plan(options).tasks
    for task in tasks:
        shares = [len(part[task.id]) for part in parts_of(tasks, 3)]
        assert max(shares) - min(shares) <= len(task.cases) / 3


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "a/b", "1/0", "-1/2", "1/2/3"])
def test_what_is_no_part_is_refused(text):
    with pytest.raises(ValueError):  # noqa: PT011  # the caller says which option
        read_shard(text)


def test_the_only_part_is_a_part():
    assert read_shard("1/1") == Shard(number=1, of=1)
    assert str(read_shard("2/4")) == "part 2 of 4"


def test_one_part_is_that_of_all():
    tasks = [Task(id="own/a", capability="foil", shape="pair", cases=(case("a", "1.jpg", 2), case("b", "2.jpg", 2)))]
    assert [part_of(tasks, Shard(number=i, of=2)) for i in (1, 2)] == parts_of(tasks, 2)


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


def test_options_come_back_from_their_json():
    from vlgate.record.json_files import environment_content
    from vlgate.record.model_card import CacheUse

    options = Options(
        folder=Path("/a"),
        suite=("scenes/*",),
        data=(Path("/d"),),
        thresholds=Path("t.toml"),
        results=Path("r"),
        protocols=frozenset({"x"}),
        shard=Shard(number=1, of=2),
        cache=Path("c"),
    )
    assert options_from(environment_content(options, 1, CacheUse())["options"]) == options
    with pytest.raises(ValueError, match="this version"):
        options_from({"folder": "/a"})
