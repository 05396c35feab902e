"""Coreference: dialogs in, a caption with a question and its answer out, and the other answer as a foil."""

from collections import Counter
from dataclasses import replace

import pytest
from builders import tabled

from vlgate.perturb.foils.candidates import Dialog, Turn
from vlgate.perturb.foils.coreference import coreference, posed, selected


def made(parser, caption, *turns, **options):
    dialog = Dialog(caption=caption, turns=tuple(Turn(question=question, answer=answer) for question, answer in turns))
    parsed, *questions = parser.parse([caption, *(turn.question for turn in dialog.turns)])
    return coreference(dialog, parsed, questions, **options)


def test_the_answer_is_cut_to_one_word_and_flipped_and_all_is_lower_case():
    foil = posed("A woman on a Motorcycle. ", "Is she wearing a helmet?", "Yes, she is")
    assert foil.caption == "a woman on a motorcycle. is she wearing a helmet? yes."
    assert foil.foil == "a woman on a motorcycle. is she wearing a helmet? no."
    assert foil.classes == ("yes", "no")


@tabled
def test_other_turns_have_a_reason(question, answer, reason):
    assert posed("a woman", question, answer) == reason


@tabled
def test_a_pronoun_with_its_antecedent_in_the_caption_or_the_image_is_taken(parser, caption, question, answer):
    assert len(made(parser, caption, (question, answer)).candidates) == 1


@tabled
def test_a_turn_that_cannot_be_relied_on_is_refused_and_taken_without_the_checks(
    parser, caption, question, answer, reason
):
    assert made(parser, caption, (question, answer)).refused == (reason,)
    assert len(made(parser, caption, (question, answer), checked=False).candidates) == 1


def test_a_thing_of_an_earlier_turn_makes_it_doubtful_but_the_weather_is_never_so(parser):
    found = made(
        parser, "a train at a station", ("is there a clock", "yes"), ("is it moving", "no"), ("is it raining", "yes")
    )
    assert found.refused == ("no pronoun", "the pronoun may stand for something said earlier")
    [only] = found.candidates
    assert only.caption == "a train at a station. is it raining? yes."
    assert only.tags == {"antecedent": "image"}


@tabled
def test_an_it_of_weather_time_or_place_counts_as_the_image(parser, question, about):
    [only] = made(parser, "a train at a station", (question, "yes")).candidates
    assert only.tags == {"antecedent": about}


@pytest.mark.parametrize("text", ["", "🐶🐶", "<b>it</b>", "IS IT SUNNY?!", "word " * 10_000, "está \n it"])
def test_bad_input_never_raises(parser, text):
    found = made(parser, text, (text, "yes"), ("is it raining", text))
    assert len(found.candidates) + len(found.refused) == 2


def test_questions_that_are_not_the_dialogs_are_named(parser):
    [parsed] = parser.parse(["a dog"])
    with pytest.raises(ValueError, match=r"len\(questions\)=0"):
        coreference(Dialog(caption="a dog", turns=(Turn(question="is it old", answer="no"),)), parsed, [])


def test_captions_say_yes_as_often_as_no_to_each_question_too(parser):
    turns = [("is it raining", "yes")] * 7 + [("is it raining", "no")] * 3 + [("is it outside", "no")] * 9
    candidates = made(parser, "a dog", *turns).candidates
    kept = Counter(candidates[place].caption for place in selected(candidates, seed=0, image_share=1.0))
    assert kept == {"a dog. is it raining? yes.": 4, "a dog. is it raining? no.": 3, "a dog. is it outside? no.": 1}


@pytest.mark.parametrize("seed", range(5))
def test_questions_about_the_image_as_a_whole_are_a_third_at_most_and_the_answers_stay_even(seed):
    said = [("yes", "image")] * 40 + [("no", "image")] * 25 + [("yes", "caption")] * 6 + [("no", "caption")] * 11
    foils = [replace(posed("a dog", "is it so", answer), tags={"antecedent": about}) for answer, about in 2 * said]
    chosen = [foils[place] for place in selected(foils, seed=seed)]
    counts = Counter(one.classes[0] for one in chosen)
    about = Counter(one.tags["antecedent"] for one in chosen)
    assert counts["yes"] == counts["no"]
    assert 0 < about["image"] <= len(chosen) / 3
    assert about["caption"] >= 30
