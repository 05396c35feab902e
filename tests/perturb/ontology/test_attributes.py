"""What attributes and relations mean."""

import json
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from builders import tabled

from vlgate.fixtures.scenes.shapes import ALL_COLOURS
from vlgate.perturb.ontology import attributes as module
from vlgate.perturb.ontology.attributes import ACTION, ANY, COLUMNS, attributes_from, curated_attributes

REAL = Path(__file__).resolve().parents[4] / "shared/data"
needs_data = pytest.mark.skipif(not REAL.is_dir(), reason="needs ../shared/data")
TABLE = curated_attributes()
MAN, GIRL, DOG, TREE = ("man", "person"), ("girl", "child", "person"), ("dog", "animal"), ("tree", "plant")


def test_every_category_is_known_and_used():
    used = {attribute.category for attribute in TABLE.attributes.values()} - {""}
    assert used == TABLE.categories.keys()
    assert len(TABLE.attributes) >= 603  # as many as GQA has
    assert {"color", "material", "size", "pattern", "shape", "pose", "sport", "activity"} < used


def test_every_rank_is_one_of_the_order_of_adjectives():
    assert {attribute.rank for attribute in TABLE.attributes.values()} <= set(range(8))


def test_names_are_in_lower_case_with_single_blanks():
    for name in (*TABLE.attributes, *TABLE.relations):
        assert name == " ".join(name.lower().split())


def test_opposites_are_known_sayable_and_mutual():
    for (one, objects), other in TABLE.opposites.items():
        assert TABLE.opposites[other, objects] == one
        assert one != other
        for name in (one, other):
            assert TABLE.attributes[name].after, name


def test_opposites_of_one_category_exclude_each_other():
    for (one, _), other in TABLE.opposites.items():
        assert frozenset((one, other)) not in TABLE.compatible
        if TABLE.attributes[one].category == TABLE.attributes[other].category != "":
            assert TABLE.exclusive(one, other), (one, other)


def test_exclusive_is_symmetric_irreflexive_and_within_one_category():
    for one in TABLE.attributes:
        assert not TABLE.exclusive(one, one)
    for one, other in combinations(TABLE.attributes, 2):
        assert TABLE.exclusive(one, other) == TABLE.exclusive(other, one)
        if TABLE.exclusive(one, other):
            assert TABLE.attributes[one].category == TABLE.attributes[other].category != ""


def test_attributes_that_share_their_first_name_go_together():
    """A light brown thing is brown, and a brick red one red: no shade excludes what it is a shade of."""
    for one, other in combinations((n for n, a in TABLE.attributes.items() if a.category == "color"), 2):
        if other.split(" ")[-1] == one or one.split(" ")[-1] == other:
            assert not TABLE.exclusive(one, other), (one, other)


def test_actions_are_those_of_the_action_categories():
    actions = {n for n, a in TABLE.attributes.items() if a.category and TABLE.categories[a.category].kind == ACTION}
    others = {TABLE.attributes[name].category for name in TABLE.actors.keys() - actions}
    assert actions <= TABLE.actors.keys()
    assert others == {"material"}
    assert {a.category for n, a in TABLE.attributes.items() if n in actions} == {"pose", "sport", "activity"}
    unsaid = {name for name in actions if not TABLE.attributes[name].after}
    assert unsaid == {"laying", "laying down"}  # "lying" is the better English


def test_inverse_relations_read_and_lead_back():
    texts = {reading.text for reading in TABLE.relations.values()}
    for name, reading in TABLE.relations.items():
        if reading.inverse:
            assert reading.inverse in texts, name
            back = TABLE.relations[reading.inverse]
            assert back.asymmetric == reading.asymmetric, name
            # Above has one opposite, below several names: beneath the table is not told from under it.
            assert TABLE.relations[back.inverse].inverse == back.text, name
        if not reading.text:
            assert not reading.that, name


def test_a_relation_that_is_its_own_inverse_is_not_asymmetric():
    own = [reading for reading in TABLE.relations.values() if reading.inverse == reading.text != ""]
    assert own
    assert not any(reading.asymmetric for reading in own)


def test_the_embedded_scenes_are_known():
    assert {"large", "small", *ALL_COLOURS} <= TABLE.attributes.keys()
    for one, other in combinations(ALL_COLOURS, 2):
        assert TABLE.attributes[one].category == TABLE.attributes[other].category == "color"
    for name in ("to the left of", "to the right of", "above", "below"):
        assert TABLE.relations[name].text == name


@tabled
def test_opposites_depend_on_the_object(attribute, names, opposite):
    assert TABLE.antonym(attribute, names) == opposite


def test_the_nearest_name_decides_which_opposite():
    tables = _texts() | {
        "antonyms.tsv": _table("antonyms.tsv", "old\tyoung\tanimal", "old\tmodern\tstatue", "old\tnew\t")
    }
    table = attributes_from(tables)
    assert table.antonym("old", ("statue", "animal")) == "modern"
    assert table.antonym("old", ("animal", "statue")) == "young"
    assert table.antonym("old", ("cup",)) == "new"


@tabled
def test_what_excludes_what(one, other, exclusive):
    assert TABLE.exclusive(one, other) is exclusive
    assert TABLE.exclusive(other, one) is exclusive


@tabled
def test_who_can_do_what(names, attribute, acts):
    assert TABLE.acts(names, attribute) is acts


@tabled
def test_what_is_asked_for_its_category(names, category, asked):
    assert TABLE.asked(names, category) is asked


@tabled
def test_how_attributes_read(name, before, after, rank):
    attribute = TABLE.attributes[name]
    assert (attribute.before, attribute.after, attribute.rank) == (before, after, rank)


@tabled
def test_how_relations_read(name, text, that, inverse, asymmetric):
    reading = TABLE.relations[name]
    assert (reading.text, reading.that, reading.inverse, reading.asymmetric) == (text, that, inverse, asymmetric)


def _texts() -> dict[str, str]:
    folder = Path(module.__file__).parent
    return {name: (folder / name).read_text("utf-8") for name in COLUMNS}


def _table(name: str, *lines: str) -> str:
    return "\n".join(("# a comment", "\t".join(COLUMNS[name]), *lines))


@tabled
def test_a_wrong_line_is_named(file, line, message):
    with pytest.raises(ValueError, match=rf"^{file}:3: .*{message}"):
        attributes_from(_texts() | {file: _table(file, line)})


@tabled
def test_lines_that_deny_each_other_are_named(file, lines, message):
    with pytest.raises(ValueError, match=message):
        attributes_from(_texts() | {file: _table(file, *lines)})


def test_wrong_columns_are_named():
    with pytest.raises(ValueError, match=r"^antonyms.tsv:1: columns=\['a', 'b'\].*'applies to'"):
        attributes_from(_texts() | {"antonyms.tsv": "a\tb\nopen\tclosed"})


def _questions():
    for file in sorted((REAL / "carets/data/questions").glob("*.json")):
        yield from ((file.name, question["assignment"]) for question in json.loads(file.read_text("utf-8")))


@needs_data
def test_all_attributes_of_gqa_carets_and_the_detector_are_known():
    gqa, detector = REAL / "scene-graphs/gqa-vocabulary/meta_info", REAL / "scene-graphs/vg-detector-vocabulary"
    names = set(json.loads((gqa / "attributes.json").read_text("utf-8")))
    names.update(*json.loads((gqa / "obj2attribute.json").read_text("utf-8")).values())
    for line in (detector / "attributes_vocab.txt").read_text("utf-8").splitlines():
        names.update(line.split(","))
    for _, assignment in _questions():
        for key, value in assignment.items():
            if key.startswith(("attrs", "category-options")):
                names.update(value)
    assert len(names) > 700
    assert names - TABLE.attributes.keys() == set()


@needs_data
def test_all_predicates_of_gqa_carets_and_the_detector_are_known():
    gqa, detector = REAL / "scene-graphs/gqa-vocabulary/meta_info", REAL / "scene-graphs/vg-detector-vocabulary"
    names = set(json.loads((gqa / "predicates.json").read_text("utf-8")))
    assert len(names) == 121
    names.update(a["2rel1"] for _, a in _questions() if a.get("2rel1"))
    for line in (detector / "relations_vocab.txt").read_text("utf-8").splitlines():
        names.update(name.strip() for name in line.split(","))
    assert names - TABLE.relations.keys() == set()


@needs_data
def test_the_predicates_of_visual_genome_are_known():
    counts: Counter[str] = Counter()
    for file in sorted((REAL / "scene-graphs").glob("vg_scene_graphs_*.json")):
        for graph in json.loads(file.read_text("utf-8")):
            counts.update(relation["predicate"].strip().lower() for relation in graph["relationships"])
    known = sum(count for name, count in counts.items() if name in TABLE.relations)
    assert known == counts.total() > 600


@needs_data
def test_the_choices_of_carets_are_of_one_category():
    """Most of the release's choices exclude each other here too; the rest, shades and kinds of metal, are shown."""
    together: Counter[tuple[str, str]] = Counter()
    pairs = 0
    for file, assignment in _questions():
        for one, other in combinations(sorted(assignment.get("category-options1") or ()), 2):
            if file.startswith("attribute_choice"):
                pairs += 1
                together[one, other] += not TABLE.exclusive(one, other)
    sys.stdout.write(f"{together.total()} of {pairs} pairs may go together: {(+together).most_common()}\n")
    assert together.total() < 0.15 * pairs


@needs_data
def test_opposites_are_mostly_those_of_the_carets_release():
    """Objects are given the class that decides; the pairs that differ are printed with their counts."""
    classes = dict.fromkeys(("man", "woman", "boy", "girl", "child", "person", "lady", "people"), ("person",))
    classes |= dict.fromkeys(("dog", "cat", "cow", "bear", "giraffe", "elephant", "zebra", "horse"), ("animal",))
    file = REAL / "carets/data/questions/attribute_verification_antonym_test.json"
    asked = {q["question_id"]: q["assignment"] for q in json.loads(file.read_text("utf-8"))}
    originals = {key: assignment for key, assignment in asked.items() if not key.endswith("-a")}
    assert len(originals) == 2500
    differing: Counter[tuple[str, str, str | None]] = Counter()
    for key, assignment in originals.items():
        ((attribute,), (theirs,)) = assignment["attrs1"], asked[f"{key}-a"]["attrs1"]
        name = assignment["obj1"]
        ours = TABLE.antonym(attribute, (name, *classes.get(name, ())))
        differing[attribute, theirs, ours] += ours != theirs
    sys.stdout.write(f"{differing.total()} of 2500 differ: {(+differing).most_common()}\n")
    assert differing.total() <= 0.08 * len(originals)
    assert not {(a, b) for a, b, ours in +differing if a in {"black", "white", "wet", "dry", "clean", "dirty"}}


def test_any_object_has_the_opposites_without_a_class():
    general = {attribute for attribute, name in TABLE.opposites if name == ANY}
    assert {"black", "open", "wet", "clean", "full", "large"} <= general
    assert all(TABLE.antonym(attribute, ()) for attribute in general)
