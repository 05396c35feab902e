"""Every template with phrases of every number: their grammar, that they differ, and that the negated ones negate."""

import re
from itertools import product

import pytest
from builders import tabled

from vlgate.perturb.questions.drafts import NounPhrase
from vlgate.perturb.questions.templates import TEMPLATES, ask, category_for, fits

COUNTS = {  # CARETS, section 4.1
    "object": 54,
    "conjunction": 18,
    "disjunction": 18,
    "attribute": 25,
    "object-choice": 25,
    "attribute-choice": 39,
    "action-choice": 28,
}
VERIFYING = ("object", "conjunction", "disjunction", "attribute")
TABLE = NounPhrase("table", "singular", ("oak",))
TABLES = NounPhrase("tables", "plural")
ALONE = (
    NounPhrase("apple", "singular"),
    NounPhrase("cup", "singular", ("orange",)),
    NounPhrase("trees", "plural"),
    NounPhrase("pants", "plural", ("old", "red")),
    NounPhrase("grass", "mass", ("green",)),
)
RELATED = tuple(
    NounPhrase(one.noun, one.number, one.attributes, relation, other, that=that)
    for one in ALONE
    for relation, other, that in (("near", TABLE, True), ("with", TABLES, False))
)
CATEGORIES = {
    "attribute-choice": {
        "color": ("red", "orange", "blue"), "material": ("wood", "metal"), "pattern": ("striped", "plaid"),
        "shape": ("round", "square"), "size": ("large", "small"), "length": ("long", "short"), "age": ("old", "young"),
        "height": ("tall", "short"), "mood": ("happy", "sad"), "weather": ("sunny", "cloudy"),
        "flavor": ("chocolate", "vanilla"), "style": ("modern", "antique"), "orientation": ("vertical", "horizontal"),
        "": ("open", "closed"),
    },
    "action-choice": {
        "pose": ("standing", "sitting", "lying"), "sport": ("surfing", "skiing"), "activity": ("eating", "reading"),
        "": ("parked", "moving"),
    },
    "object-choice": {"": ("an oak", "a pine", "a fir"), "kind": ("an oak", "a pine", "a fir")},
}  # fmt: skip
NEGATIONS = re.compile(r"\b(no|not|neither)\b")
OPERANDS = re.compile(r"either no .* or no ")
WRONG = re.compile(
    r"[{}]|  | ,| \?"
    r"|\ban (?![aeiou])|\ba (?=[aeiou])"
    r"|\ban? (?:old red |green )?(?:trees|pants|grass)\b"
    r"|\bany (?:orange )?(?:apple|cup)\b"
    r"|\b(?:an?|any|no|the) (?:an?|any|no|the)\b|\b(?:either|both|neither|nor) any\b"
    r"|\b(?:apple|cup|grass) that are\b|\b(?:trees|pants) that is\b"
    r"|\b(\w+) \1\b",
    re.IGNORECASE,
)
_THEM, _IT = r"(?:old red )?(?:trees|pants)", r"(?:orange |green )?(?:apple|cup|grass)"
DISAGREEING = (
    re.compile(rf"\b(?:is|does)(?: there)?(?: either| neither| both)?(?: any| the| no)? {_THEM}\b", re.IGNORECASE),
    re.compile(rf"\b(?:are|do)(?: there)?(?: either| neither)?(?: an?| any| the| no)? {_IT}\b", re.IGNORECASE),
    re.compile(rf"(?<!of )\bthe {_THEM}\b[^,]*? is\b"),
    re.compile(rf"\bthe {_IT}\b[^,]*? are\b"),
)


def cases(kind):
    """All that may be asked of the phrases above: (first, second, keywords)."""
    if kind in ("conjunction", "disjunction"):
        return [(x, y, {}) for x, y in product(ALONE, ALONE) if x != y]
    phrases = (*ALONE, *RELATED)
    if kind in CATEGORIES:
        return [(x, None, {"category": c, "choices": w}) for x in phrases for c, w in CATEGORIES[kind].items()]
    return [(x, None, {"attribute": "made of wood"} if kind == "attribute" else {}) for x in phrases]


def fitting(kind, x, y, words):
    return [template for template in TEMPLATES[kind] if fits(template, x, y, category=words.get("category", ""))]


def every_question(kind):
    for x, y, words in cases(kind):
        for template in fitting(kind, x, y, words):
            for negated in (False, True) if template.negated else (False,):
                yield ask(template, x, y, **words, negated=negated)


def test_as_many_as_in_the_paper():
    assert {kind: len(templates) for kind, templates in TEMPLATES.items()} == COUNTS


@pytest.mark.parametrize("kind", COUNTS)
def test_numbered_and_typed(kind):
    assert [template.id for template in TEMPLATES[kind]] == list(range(COUNTS[kind]))
    assert {template.type for template in TEMPLATES[kind]} == {kind}
    assert any(template.negated for template in TEMPLATES[kind]) == (kind in VERIFYING)


def test_object_templates_by_relation():
    relations = [template.relation for template in TEMPLATES["object"]]
    assert [relations.count(relation) for relation in ("none", "plain", "that")] == [18, 18, 18]


@pytest.mark.parametrize("kind", COUNTS)
def test_grammar(kind):
    for question in every_question(kind):
        assert re.fullmatch(r"[A-Z].*[^ ?]\?", question), question
        assert not WRONG.search(question), question
        assert not any(pattern.search(question) for pattern in DISAGREEING), question


@pytest.mark.parametrize("kind", COUNTS)
def test_two_templates_never_say_the_same(kind):
    for x, y, words in cases(kind):
        templates = fitting(kind, x, y, words)
        for negated in (False, True) if kind in VERIFYING else (False,):
            questions = [ask(one, x, y, **words, negated=negated) for one in templates if one.negated or not negated]
            assert len(set(questions)) == len(questions) >= 4


@pytest.mark.parametrize("kind", COUNTS)
def test_all_templates_are_of_use(kind):
    used = {one.id for x, y, words in cases(kind) for one in fitting(kind, x, y, words)}
    assert used == set(range(COUNTS[kind]))


@pytest.mark.parametrize("kind", VERIFYING)
def test_negated_questions_negate(kind):
    for x, y, words in cases(kind):
        for one in fitting(kind, x, y, words):
            assert not NEGATIONS.search(ask(one, x, y, **words))
            denied = ask(one, x, y, **words, negated=True) if one.negated else "no"
            assert len(NEGATIONS.findall(denied)) == 1 + bool(OPERANDS.search(denied)), denied


DENIED = {  # what a negation may change, and into what; the operands are denied, not the sentence
    "object": (r"\{x\.(?:any|a)\}", "{x.no}"),
    "conjunction": (r"both \{x\.a\} and \{y\.a\}", "either {x.no} or {y.no}"),
    "disjunction": (r"either \{x\.a\} or \{y\.a\}", "neither {x.a} nor {y.a}"),
    "attribute": (r"(?= to be \{attribute\})|(?= \{attribute\})(?<! be)", " not"),
}


@pytest.mark.parametrize("kind", VERIFYING)
def test_a_negation_changes_nothing_else(kind):
    """Not "is a fence shown here" and "is it true that no fence is shown here"."""
    negated = [one for one in TEMPLATES[kind] if one.negated]
    assert [one.negated for one in negated] == [re.sub(*DENIED[kind], one.text) for one in negated]
    assert len(negated) >= 6


def test_either_or_is_never_heard_as_a_choice():
    assert [template.text for template in TEMPLATES["disjunction"] if "either" not in template.text] == []


@pytest.mark.parametrize("form", ["What would you call", "sort of", "type of", "kind of", "more {choices}"])
def test_forms_of_the_release(form):
    assert [template.text for kind in CATEGORIES for template in TEMPLATES[kind] if form in template.text]


def test_nobody_is_asked_for_the_kind_of_a_person():
    texts = [
        template.text
        for template in TEMPLATES["object-choice"]
        if fits(template, ALONE[0]) or fits(template, RELATED[0])
    ]
    assert texts
    assert not [text for text in texts if re.search(r"(?:kind|sort|type) of", text)]


def test_a_list_of_materials_is_not_heard_as_more_things():
    """Not "the table that is near the bowl, glass or wood"."""
    asked = [
        ask(template, RELATED[0], category="material", choices=("glass", "wood"))
        for template in TEMPLATES["attribute-choice"]
        if fits(template, RELATED[0], category="material")
    ]
    assert len(asked) >= 4
    assert [text for text in asked if re.search("made of(?:,)? glass or wood", text) is None] == []


def test_no_negation_begins_with_what_is_missing():
    """No negation inside the clause, such as "can no cup be seen" or "can you see either no cup or no ball"."""
    negated = [template.negated for kind in VERIFYING for template in TEMPLATES[kind]]
    odd = re.compile(r"(?:Can|Would|\{(?:Is|Does)\})(?: you \w+)?(?: either)? \{x\.no\}")
    assert [text for text in negated if odd.match(text)] == []


def test_no_negation_that_people_answer_the_other_way():
    negated = [template.negated for templates in TEMPLATES.values() for template in templates]
    assert not [
        text
        for text in negated
        if re.search(r"n't\b|^\S+ (?:there )?not\b|\bnot (?:true|the case|both)\b|, \w+ (?:it|they|there|you)\?$", text)
    ]


@pytest.mark.parametrize("kind", ["attribute-choice", "action-choice"])
def test_ten_templates_for_every_category(kind):
    for category in (*CATEGORIES[kind], "unheard of"):
        assert sum(not template.categories or category in template.categories for template in TEMPLATES[kind]) >= 10


def test_the_agreement_follows_the_first_phrase():
    apple, trees = ALONE[0], ALONE[2]
    both = TEMPLATES["conjunction"][0]
    assert ask(both, apple, trees) == "Is there both an apple and trees in the picture?"
    assert ask(both, trees, apple) == "Are there both trees and an apple in the picture?"


def test_which_phrases_fit():
    by_relation = {template.relation: template for template in TEMPLATES["object"]}
    alone, near, with_tables = ALONE[0], RELATED[0], RELATED[1]
    for relation, expected in {
        "none": (True, False, False),
        "plain": (False, True, True),
        "that": (False, True, False),
    }.items():
        assert tuple(fits(by_relation[relation], x) for x in (alone, near, with_tables)) == expected
    both = TEMPLATES["conjunction"][0]
    assert not fits(both, alone)
    assert not fits(both, alone, near)
    assert fits(both, alone, ALONE[1])
    assert not fits(by_relation["none"], alone, ALONE[1])


def test_categories_fit_their_words():
    made = next(template for template in TEMPLATES["attribute-choice"] if template.categories == {"material"})
    assert fits(made, ALONE[0], category="material")
    assert not fits(made, ALONE[0], category="color")
    assert not fits(made, ALONE[0])


@tabled
def test_a_category_is_named_where_its_words_suit_the_choices(noun, choices, expected):
    assert category_for(noun, choices) == expected


@tabled
def test_choices(category, choices, expected):
    assert ask(TEMPLATES["attribute-choice"][0], ALONE[0], category=category, choices=choices) == expected


@tabled
def test_what_cannot_be_asked(kind, words, missing):
    with pytest.raises(ValueError, match=missing):
        ask(TEMPLATES[kind][0], ALONE[0], **words)
