"""What decides: explanations of models that look at one place or at one word, their parts, maps and rates."""

import numpy as np
import pytest
from builders import model as fake
from builders import pair_case, predictor, tabled, task_of
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from vlgate.errors import NoReplyError
from vlgate.fixtures.reader.reading import Reading
from vlgate.fixtures.scenes.draw import Drawing
from vlgate.judging.verdicts import judge
from vlgate.metrics.shapes import SHAPES
from vlgate.probes.explaining.deciding import deciding, deciding_exchange, deciding_words, hits
from vlgate.probes.explaining.explain import explain, number_of_requests, subjects, swaps, text_swaps, words_of
from vlgate.probes.explaining.rates import beside, hit, measured
from vlgate.probes.explaining.record import Explanation, Finding, Part
from vlgate.probes.explaining.regions import MOST_SEGMENTS, heat, hidden, segments
from vlgate.types import Ask, Attended, Batch, Case, LazyImage, Match

SIDE = 64
WORDS = ("small", "red", "old", "left", "striped")


def speckled(key="speckled.png"):
    """An image whose parts all differ from its mean colour."""
    pixels = np.random.default_rng(0).integers(0, 2, (SIDE, SIDE, 1)) * np.array([250, 120, 60])
    return LazyImage(key=key, load=lambda: Image.fromarray(pixels.astype(np.uint8)))


def explained(model, case, shape="pair"):
    task, asked = task_of([case], shape=shape), predictor(model, 16)
    [verdict] = judge(Batch(task=task, positions=(0,)), asked.predict(case.requests))
    [found] = explain(subjects([(task.id, shape, verdict)], model), asked, model)
    return found


def pair(true, false):
    return pair_case(1, true, false, speckled())


def finding(found, method):
    [one] = [one for one in found.findings if one.method == method]
    return one


def strongest(found, method="hide windows"):
    return max(finding(found, method).parts, key=lambda part: abs(part.effect))


class LooksAt:
    """Believes the text "yes" by how much contrast there is at one place of the image, and sees nothing else."""

    def __init__(self, across, down, sign=1.0):
        self.rows, self.columns, self.sign = slice(down, down + 4), slice(across, across + 4), sign

    def match(self, pairs):
        return np.array([self.contrast(pair.image) * self.sign * (pair.text == "yes") for pair in pairs])

    def contrast(self, image):
        return float(np.asarray(image.load(), dtype=float)[self.rows, self.columns].std())


def reads(word):
    """A model that likes a text that has one word, and sees no image."""
    return fake(match=lambda pairs: np.array([float(word in pair.text.split()) for pair in pairs]))


@settings(max_examples=12, deadline=None)
@given(across=st.integers(0, SIDE - 4), down=st.integers(0, SIDE - 4))
def test_the_region_that_a_matcher_looks_at_is_found_wherever_it_is(across, down):
    found = explained(LooksAt(across, down), pair("yes", "no"))
    box = strongest(found).box
    left, top, right, bottom = (edge * SIDE for edge in box)
    assert found.right
    assert min(right, across + 4) > max(left, across)
    assert min(bottom, down + 4) > max(top, down)
    for part in finding(found, "hide windows").parts:
        left, top, right, bottom = (edge * SIDE for edge in part.box)
        if right <= across or left >= across + 4 or bottom <= down or top >= down + 4:
            assert (part.effect, part.turns) == (0, False)


def test_what_speaks_for_the_right_answer_is_above_zero_and_what_speaks_against_it_below():
    right, missed = (explained(LooksAt(8, 40, sign=sign), pair("yes", "no")) for sign in (1.0, -1.0))
    assert (right.right, missed.right) == (True, False)
    assert strongest(right).effect == -strongest(missed).effect > 0


@pytest.mark.parametrize("word", WORDS)
def test_the_word_that_a_matcher_reads_is_the_only_one_with_an_effect_and_turns_the_verdict(word):
    foil = "a " + " ".join(WORDS) + " cup"
    found = explained(reads(word), pair("a plain cup", foil))
    assert not found.right
    for method in ("leave words out", "exchange words"):
        moved = [part for part in finding(found, method).parts if part.effect]
        assert [part.word for part in moved] == [word]
        assert moved[0].effect == -1.0
    assert not any(part.effect for part in finding(found, "hide windows").parts)
    assert repr(word) in found.says


def test_a_model_with_boxes_is_shown_the_image_without_each_of_them():
    halves = np.array([[0.0, 0.0, 0.5, 1.0], [0.5, 0.0, 1.0, 1.0]])
    found = explained(fake(match=LooksAt(40, 8).match, boxes=lambda images: [halves] * len(images)), pair("yes", "no"))
    assert [part.effect > 0 for part in finding(found, "hide boxes").parts] == [False, True]
    assert all(one.method != "hide windows" for one in found.findings)


def answers(questions):
    """Say "yes" to a question with the word "dog", or about an image with contrast at its top left."""
    yes = ["dog" in question.question or LooksAt(0, 0).contrast(question.image) > 50 for question in questions]
    return ["yes" if one else "no" for one in yes]


def test_an_answerer_is_explained_by_the_answers_that_turn():
    image = speckled()
    asked = [Ask(image=image, question=text, choices=("yes", "no")) for text in ("Is it a cat?", "Is there a dog?")]
    found = explained(fake(answer=answers), Case(id="1", requests=tuple(asked), truths=("no", "yes")), "questions")
    assert (found.graded, found.right, found.margin) == (False, False, 0.5)
    [corner] = [part for part in finding(found, "hide windows").parts if part.effect]
    assert corner.box[:2] == (0.0, 0.0)
    assert (corner.effect, corner.turns) == (-0.5, True)
    assert "top left" in found.says


def test_a_matcher_that_is_asked_questions_is_explained_by_the_scores_of_the_choices():
    encoder = fake(  # its image is the contrast at the top left; only the word "busy" points the same way
        encode_images=lambda images: np.array([[LooksAt(0, 0).contrast(image), 1.0] for image in images]),
        encode_texts=lambda texts: np.array([[1.0 if "busy" in text.split() else -1.0, 0.0] for text in texts]),
    )
    asked = (Ask(image=speckled(), question="Which is it?", choices=("busy", "plain")),)
    found = explained(encoder, Case(id="1", requests=asked * 2, truths=("busy", "busy")), "questions")
    assert found.graded
    assert found.margin > 50
    assert strongest(found).box[:2] == (0.0, 0.0)
    assert 0 < strongest(found).effect <= found.margin


def replays(pairs):
    """Have a reply to what was asked before only, as a file of replies has."""
    unknown = [index for index, pair in enumerate(pairs) if "#" in pair.image.key]
    if unknown:
        raise NoReplyError(unknown, "there is no row for it")
    return np.array([float(len(pair.text)) for pair in pairs])


def test_changes_without_a_reply_are_counted_and_say_why():
    found = explained(fake(match=replays), pair("a cup", "a longer cup"))
    hidden = finding(found, "hide windows")
    assert hidden.lacking == len(hidden.parts) == 49
    assert hidden.why == "there is no row for it"
    assert not hidden.measured
    assert finding(found, "leave words out").lacking == 0


def test_no_more_is_asked_than_was_said_and_nothing_twice():
    asked, case, looks = [], pair("yes", "no"), LooksAt(0, 0)
    model = fake(match=lambda pairs: asked.extend((one.image.key, one.text) for one in pairs) or looks.match(pairs))
    [verdict] = judge(Batch(task=task_of([case]), positions=(0,)), predictor(model, 16).predict(case.requests))
    asked.clear()
    about = subjects([("x/pairs", "pair", verdict)], model)
    assert not asked
    said = number_of_requests(about)
    explain(about, predictor(model, 16), model)
    assert len(asked) == len(set(asked)) == said <= 2 * (49 + 49) + 2 + 2 * 2


def attending(maps):
    """A model that gives a slice of its maps, or raises."""

    def attended(pairs):
        if isinstance(maps, Exception):
            raise maps
        return [Attended(method="told", image=0, text=pair.text, boxes=(), weights=()) for pair in pairs][maps]

    return fake(match=LooksAt(8, 40).match, attended=attended)


ONE_MAP = "attended() of the model returned 1 maps for 2 pairs; return one per pair"
NO_MAP = "attended() of the model raised ZeroDivisionError: no gradient"


@pytest.mark.parametrize(("maps", "texts", "why"), [
    (slice(None), ["yes", "no"], ""), (slice(0), [], ""), (slice(1), [], ONE_MAP),
    (ZeroDivisionError("no gradient"), [], NO_MAP),
])  # fmt: skip
def test_maps_stand_beside_the_interventions_and_cannot_cost_them(maps, texts, why):
    found = explained(attending(maps), pair("yes", "no"))
    assert [one.text for one in found.attended] == texts
    assert found.unseen == why
    assert strongest(found).effect > 0


def test_what_the_score_of_the_true_text_rests_on_is_measured_beside_the_margin():
    looks = LooksAt(8, 40)  # it sees one place for both texts, so that the lead of one does not depend on it
    both = fake(match=lambda pairs: np.array([looks.contrast(pair.image) + (pair.text == "yes") for pair in pairs]))
    parts = finding(explained(both, pair("yes", "no")), "hide windows").parts
    assert not any(part.effect for part in parts)
    best = max(parts, key=lambda part: part.support)
    assert best.support > 10
    assert best.box[0] * SIDE < 12
    assert best.box[2] * SIDE > 8
    words = finding(explained(reads("red"), pair("a", "red")), "exchange words").parts
    assert all(part.support is None for part in words)


def dotted(key, across):
    """Two dots on white: one at the left, and one at a place."""
    pixels = np.full((SIDE, SIDE, 3), 255, np.uint8)
    pixels[30:34, 4:8] = pixels[30:34, across : across + 4] = 0
    return LazyImage(key=key, load=lambda: Image.fromarray(pixels))


def test_an_exchange_between_images_finds_the_place_in_which_they_differ():
    def dark(pair):
        """Like "first" for a dot at 40, and "second" for one at 56."""
        across = {"first": 40, "second": 56}.get(pair.text, 0)
        return 255 - float(np.asarray(pair.image.load())[30:34, across : across + 4].mean())

    images = dotted("first", 40), dotted("second", 56)
    asked = tuple(Match(image=image, text=text) for image in images for text in ("first", "second"))
    found = explained(
        fake(match=lambda pairs: np.array(list(map(dark, pairs)))),
        Case(id="1", requests=asked, truths=(True, False, False, True)),
        "quad",
    )
    moved = [part for part in finding(found, "exchange between images").parts if part.effect]
    assert found.right
    assert {part.image for part in moved} == {0, 1}
    assert all(part.box[2] * SIDE > 40 and part.box[1] * SIDE < 34 and part.box[3] * SIDE > 30 for part in moved)
    assert all(part.effect > 0 for part in moved)
    assert any(part.turns for part in moved)


def test_an_exchange_between_texts_of_bounded_length_finds_the_word_that_a_matcher_reads():
    found = explained(reads("red"), pair("a red cup on an old chair", "a blue cup on a small chair"))
    parts = finding(found, "exchange between texts").parts
    assert [part.word for part in parts] == ["red / blue", "an old / a small"]
    assert [part.effect for part in parts] == [2.0, 0.0]
    assert [part.turns for part in parts] == [True, False]
    one_place = explained(reads("red"), pair("a red cup", "a blue cup"))
    assert "exchange between texts" not in {one.method for one in one_place.findings}
    assert len(swaps(" x ".join("abcdefghijklm"), " x ".join("nopqrstuvwyzA"))) == 8
    assert len(words_of([" ".join(f"word{number}" for number in range(500))])) == 40


@settings(max_examples=25, deadline=None)
@given(left=st.integers(4, 30), top=st.integers(4, 30), side=st.integers(6, 24))
def test_a_hidden_thing_is_painted_over_with_what_is_around_it(left, top, side):
    pixels = np.full((SIDE, SIDE, 3), (90, 180, 60), np.uint8)
    pixels[top : top + side, left : left + side] = (250, 10, 10)
    box = tuple((edge + more) / SIDE for edge, more in ((left, -2), (top, -2), (left + side, 2), (top + side, 2)))
    [region] = hidden(LazyImage(key="1", load=lambda: Image.fromarray(pixels)), [box])
    found = np.asarray(region.changed.load(), dtype=int)
    assert np.abs(found - (90, 180, 60)).max() <= 10  # the library rounds at each pixel


def test_only_the_box_is_changed_and_a_box_of_the_whole_image_is_one_colour():
    large = np.random.default_rng(0).integers(0, 256, (150, 260, 3)).astype(np.uint8)
    image = LazyImage(key="1", load=lambda: Image.fromarray(large))
    part, whole = (np.asarray(one.changed.load()) for one in hidden(image, [(0.25, 0.2, 0.5, 0.6), (0, 0, 1, 1)]))
    changed = (part != large).any(axis=2)
    assert changed[30:90, 65:130].mean() > 0.9
    assert changed.sum() == changed[30:90, 65:130].sum()
    assert len(np.unique(whole.reshape(-1, 3), axis=0)) == 1


@pytest.mark.parametrize("shape", SHAPES)
def test_texts_of_every_shape_can_be_exchanged_if_it_has_such_texts(shape):
    texts = ("a red cup on a table", "a blue cup under a table") * 2
    requests = tuple(Match(image=LazyImage(key="a.jpg", load=None), text=text) for text in texts)
    found = text_swaps(Case(id="1", requests=requests, truths=(True,) * 4), shape)
    exchanged = {places for places in SHAPES[shape].word_pairs if texts[places[0]] != texts[places[1]]}
    assert {places for places, _ in found} == exchanged


PLACES = {"cup": (20, "red"), "dog": (100, "brown"), "ball": (170, "blue")}


def scene(key, *things):
    """A drawn image of things, each with its left edge and colour."""
    objects = {
        str(number): {"name": name, "x": left, "y": 80, "w": 40, "h": 40, "attributes": [colour], "relations": []}
        for number, (name, (left, colour)) in enumerate(things)
    }
    return LazyImage(key=key, load=Drawing(graph={"width": 224, "height": 224, "objects": objects}))


IMAGE = scene("scene", *PLACES.items())


def deciders(*texts, image=IMAGE):
    """The numbers of the things that decide."""
    asked = [Ask(image=image, question=t) if t.endswith("?") else Match(image=image, text=t) for t in texts]
    return numbers(deciding(Case(id="1", requests=tuple(asked), truths=(True,) * len(asked)), image, Reading()))


def numbers(found):
    return None if found is None else tuple(index for index, decide in enumerate(found.decides) if decide)


TWINS = scene("twins", *PLACES.items(), ("cup", (60, "red")))
PHOTO = LazyImage(key="photo.jpg", load=lambda: None)


@tabled
def test_the_things_without_which_a_text_would_say_something_else_decide(texts, image, expected):
    """A photograph has no graph to decide by."""
    images = {"scene": IMAGE, "twins": TWINS, "photo": PHOTO}
    assert deciders(*texts, image=images[image]) == expected


def coloured(key, cup, dog):
    return scene(key, ("cup", (20, cup)), ("dog", (120, dog)))


@tabled
def test_an_exchange_decides_where_the_other_image_makes_the_text_say_something_else(other, text, expected):
    images = coloured("one", "red", "brown"), coloured("other", *other)
    case = Case(id="1", requests=tuple(Match(image=image, text=text) for image in images), truths=(True, False))
    assert numbers(deciding_exchange(case, *images, Reading())) == expected


@pytest.mark.parametrize(("new", "expected"), [
    ("There is a dog.", False), ("There is a cat.", True), ("Colourless ideas.", None),
])  # fmt: skip
def test_words_decide_if_the_new_text_says_something_else(new, expected):
    case = pair_case(1, "There is a cup.", "There is no cup.", IMAGE)
    assert deciding_words(case, {"There is a cup.": new}, Reading()) is expected


LEFT, RIGHT = (0.0, 0.0, 0.4, 1.0), (0.6, 0.0, 1.0, 1.0)


@pytest.mark.parametrize(("effects", "expected"), [([1.0, 0.1], True), ([0.1, 1.0], False), ([0.0, -1.0], False)])
def test_a_hit_is_the_largest_effect_on_the_thing_that_decides(effects, expected):
    found = hit([LEFT, RIGHT], np.array(effects), [LEFT, RIGHT], [True, False])
    assert (found.touches, found.points, found.leads) == (expected,) * 3
    assert (found.chance_touches, found.chance_points, found.chance_leads) == (0.5, 0.5, 0.5)


@pytest.mark.parametrize(("effects", "found"), [([0.1, 0.9, 0.2], True), ([0.9, 0.1, 0.2], False)])
def test_the_part_and_the_map_of_the_true_text_are_compared_with_the_thing_that_decides(effects, found):
    case = pair_case(1, "There is a dog.", "There is a cat.", IMAGE)
    boxes = tuple((left / 224, 80 / 224, (left + 40) / 224, 120 / 224) for left, _ in PLACES.values())
    parts = tuple(Part(effect=effect, box=box, image=0) for effect, box in zip(effects, boxes, strict=True))
    maps = {"There is a cat.": (1.0, 0.0, 0.0), "There is a dog.": (0.0, 1.0, 0.0)}
    explanation = Explanation(
        task="t", case="1", right=True, images=("scene",), texts=(), margin=1.0, graded=True, unseen="",
        attended=tuple(Attended(method="seen", image=0, text=t, boxes=boxes, weights=w) for t, w in maps.items()),
        findings=(Finding(method="hide boxes", parts=parts),), requests=0, says="",
    )  # fmt: skip
    got = dict(hits(explanation, case, "pair", Reading()))
    assert (got["hide boxes"].touches, got["hide boxes"].points, got["hide boxes"].leads) == (found,) * 3
    assert got["seen"].points
    assert got["seen"].chance_points == pytest.approx(1 / 3)


def test_the_deciding_thing_leads_in_at_least_80_percent_by_an_intervention_of_each_model():
    rates = {(one.model, one.method): one for one in measured()}
    for model in ("tiny-clip", "tiny-lxmert"):
        rate = rates[model, "hide segments: the true text"]
        assert rate.leads >= 0.8
        assert rate.low > rate.chance_leads + 0.2
        assert rate.n >= 100
    [one] = beside("hide windows")
    assert one.says.startswith("tiny-clip on the drawn scenes: the deciding object leads in ")
    assert beside("no such method") == ()


GREEN, RED, BLUE = (90, 180, 60), (230, 20, 20), (20, 20, 220)


def share(one, other):
    """The shared area of two boxes as a share of what either covers."""
    across = max(0, min(one[2], other[2]) - max(one[0], other[0]))
    both = across * max(0, min(one[3], other[3]) - max(one[1], other[1]))
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)]
    return both / (sum(areas) - both)


@settings(max_examples=20, deadline=None)
@given(left=st.integers(10, 60), top=st.integers(10, 40), scale=st.integers(1, 3))
def test_a_thing_and_its_part_of_another_colour_are_both_segments_wherever_they_are(left, top, scale):
    pixels = np.full((120, 160, 3), GREEN, np.uint8)
    pixels[top : top + 50, left : left + 40] = RED
    pixels[top + 10 : top + 30, left + 10 : left + 30] = BLUE
    found = segments(pixels.repeat(scale, axis=0).repeat(scale, axis=1))
    whole = (left / 160, top / 120, (left + 40) / 160, (top + 50) / 120)
    part = ((left + 10) / 160, (top + 10) / 120, (left + 30) / 160, (top + 30) / 120)
    for box in (whole, part):
        assert max(share(box, one) for one in found) > 0.8


def test_an_image_of_one_colour_has_no_segments_and_no_image_has_too_many():
    assert segments(np.full((40, 60, 3), GREEN, np.uint8)) == ()
    assert segments(np.full((1, 1, 3), GREEN, np.uint8)) == ()
    chance = np.random.default_rng(0)
    blocks = chance.integers(0, 256, (14, 14, 3)).astype(np.uint8).repeat(12, axis=0).repeat(12, axis=1)
    found = segments(blocks)
    assert len(found) == MOST_SEGMENTS
    assert found == segments(blocks)
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in found]
    assert areas == sorted(areas, reverse=True)


def slow_heat(boxes, effects, side):
    """The mean effect of the smallest boxes at each pixel, one pixel at a time; the boxes end at pixels."""
    found = np.zeros((side, side))
    for y in range(side):
        for x in range(side):
            over = [
                (round((box[2] - box[0]) * (box[3] - box[1]), 6), effect)
                for box, effect in zip(boxes, effects, strict=True)
                if box[0] * side <= x < box[2] * side and box[1] * side <= y < box[3] * side
            ]
            least = [effect for size, effect in over if size == min(size for size, _ in over)]
            found[y, x] = np.mean(least) if least else 0.0
    return found


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_map_has_the_effect_of_the_smallest_part_at_each_point(data):
    edge = st.integers(0, 7)
    boxes, effects = [], []
    for _ in range(data.draw(st.integers(0, 6))):
        left, top = data.draw(edge), data.draw(edge)
        right, bottom = data.draw(st.integers(left + 1, 8)), data.draw(st.integers(top + 1, 8))
        boxes.append((left / 8, top / 8, right / 8, bottom / 8))
        effects.append(data.draw(st.floats(-1, 1)))
    assert heat(boxes, np.array(effects), side=8) == pytest.approx(slow_heat(boxes, effects, 8))
