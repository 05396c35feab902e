"""Coreference: "a woman on a motorcycle. is she wearing a helmet? yes." against "no." (VALSE, 3.6 and A.6)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from vlgate.perturb.foils.balance import ENOUGH, most
from vlgate.perturb.foils.candidates import Dialog, Foil, Perturbed
from vlgate.perturb.text.fitness import first
from vlgate.perturb.text.parsed import Parsed, Token
from vlgate.perturb.word_lists import words
from vlgate.seeds import generator

# Whether a pronoun of a question about an image has what it stands for in the image's caption.
# A check by number and gender, not a resolution. "she" needs one person in the caption who may be female, "they" one
# noun in the plural, which comes first or belongs to a word for a group, "it" a thing that comes first. Questions
# about the image as a whole need none: its colours, the weather, the time of day, inside or outside.

HE = frozenset({"he", "him", "his", "himself"})
SHE = frozenset({"she", "her", "herself"})
THEY = frozenset({"they", "them", "their", "themselves", "these", "those", "both"})
IT = frozenset({"it", "its", "itself", "this", "that"})
PRONOUNS = HE | SHE | THEY | IT
"""The pronouns that a question is taken for: those of the release's records, among them "both", not "i" and "you"."""

MALE = words("he")
FEMALE = words("she")
NEUTRAL = words("he or she")
_PERSONS = MALE | FEMALE | NEUTRAL
_SCENE = re.compile(
    r"(?:is|are|does|was) (?:it|this|that)"
    r"(?: (?:a|an|in|at|on|during|taken|set|the|photo|picture|image|pic|shot|scene|photograph))*"
    r" (?:sunny|raining|rainy|snowing|cloudy|overcast|day ?time|day|night ?time|night|evening|morning|winter|summer|"
    r"dawn|dusk|noon|midday|afternoon|sunrise|sunset|spring|autumn|summertime|wintertime|snowy|stormy|hazy|misty|humid|"
    r"(?:hot|cold|warm|cool|dark|light|bright) (?:out|outside)|city|countryside|"
    r"indoors?|outdoors?|inside|outside|colou?r(?:ed)?|black and white|black & white|close ?up|windy|foggy|sepia)"
    r"(?: (?:a|in|out|outside|there|the|photo|photograph|picture|image|pic|shot|day|today|here))*"
)
_GROUPS = frozenset({"couple", "group", "pair", "family", "crowd", "team", "herd", "flock", "bunch", "several"})
_WHOLE = frozenset("photo picture image pic photograph view shot closeup close scene front".split())


def of_the_image(question: Parsed) -> bool:
    asked = question.text.strip().lower().rstrip(" ?.!")
    return _SCENE.fullmatch(asked) is not None or bool({token.lower for token in question.tokens} & _WHOLE)


def without_antecedent(question: Parsed, caption: Parsed, before: str) -> str:
    # If the dialog ``before`` names a thing that the caption does not, "it" and "they" may stand for that thing.
    asked = question.text.strip().lower().rstrip(" ?.!")
    if caption.tokens[:1] and caption.tokens[0].tag == "VB" and caption.tokens[0].lower != "close":
        return "the caption is not a description"
    if _SCENE.fullmatch(asked):
        return ""
    words = {token.lower for token in question.tokens}
    heads = (token for token in caption.tokens if token.tag in {"NN", "NNS"} and token.dep != "compound")
    nouns = tuple(token for token in heads if token.lower not in _WHOLE)
    if words & (HE | SHE):
        return _person(nouns, (MALE if words & HE else FEMALE) | NEUTRAL)
    if _other_things(before, caption):
        return "the pronoun may stand for something said earlier"
    if words & THEY:
        return _several(nouns)
    opening = next((token.lower for token in caption.tokens if token.tag in {"NN", "NNS"}), "")
    photo = words & {"it", "its"} and not words & _WHOLE and opening in _WHOLE - {"front"}
    return "the pronoun may stand for the photo" if photo else _thing(question, nouns)


def _person(nouns: tuple[Token, ...], fitting: frozenset[str]) -> str:
    one = [token for token in nouns if token.tag == "NN" and token.lower in fitting]
    if not one:
        return "no person in the caption that the pronoun fits"
    return "two persons in the caption that the pronoun fits" if len(one) > 1 else ""


def _several(nouns: tuple[Token, ...]) -> str:
    several = [token for token in nouns if token.tag == "NNS"]
    if not several or (several[0] is not nouns[0] and nouns[0].lower not in _GROUPS):
        return "no noun of several things at the start of the caption"
    return "two nouns in the caption that the pronoun fits" if len(several) > 1 else ""


def _thing(question: Parsed, nouns: tuple[Token, ...]) -> str:
    asked = [token.lower for token in question.tokens]
    if {"this", "that"} & set(asked) and (asked[1:2] == ["this"] or not _WHOLE.isdisjoint(asked)):
        return ""
    things = [token for token in nouns if token.tag == "NN" and token.lower not in _PERSONS]
    if not things or things[0] is not nouns[0]:
        return "no thing at the start of the caption that the pronoun fits"
    return "two things in the caption that the pronoun fits" if len(things) > 2 else ""


def _other_things(before: str, caption: Parsed) -> bool:
    """Whether a dialog names a thing that its caption does not, as far as "a", "the" or "any" introduces it."""
    known = {token.lower for token in caption.tokens} | {token.lemma.lower() for token in caption.tokens}
    introduced = re.findall(r"\b(?:an?|the|any|some|other|many|[2-9]) (?:\w+ )?(\w+)", before.lower())
    return any(word not in known and word.rstrip("s") not in known and word not in _WHOLE for word in introduced)


# Whether the answer to a yes-no question of a dialog can be relied on, so that the other answer is wrong.
# Questions of a dialog are typed in a hurry, and 23 % of VALSE's coreference records are not valid. Most of these
# answer "no" to what a thing may also be called ("is it a sub sandwich?"), or ask for a degree ("is it a big tv?").

_HEDGES = re.compile(
    r"\b(?:think|guess|maybe|perhaps|probably|possibly|might|may|could|would|not sure|unsure|can't tell|cannot tell|"
    r"can not tell|cant tell|hard to|somewhat|but|kind of|sort of|partially|partly|slightly|mostly|almost|both|"
    r"appears?|seems?|assume|believe|suppose|not really|not very|not quite|don't know|can't see|cannot see|cant see|"
    r"looks? like|though|although|only|just|except|imagine|not visible|a little|a bit|at least)\b",
    re.IGNORECASE,
)
_OPINION = re.compile(rf"\b(?:{'|'.join(sorted(words('opinion')))}|having fun)\b", re.IGNORECASE)
_STARTS = frozenset({"is", "are", "does", "do", "can", "has", "have", "was", "were", "did"})
_NAMED = re.compile(
    r"^(?:is|are|was|were) (?:it|this|that|these|those|they|he|she)\b(?: (?:all|both))? (?:an? |the |in an? |at an? )?"
)
_IMAGE = re.compile(
    r"\b(?:colou?r(?:ed|ful)?|black and white|photo(?:graph)?|picture|image|pic|indoors?|outdoors?|inside|outside|"
    r"sunny|raining|rainy|snowing|day ?time|day|night ?time|night|cloudy|close ?up|overcast)\b"
)


def uncertain(question: Parsed, answer: str) -> str:
    # A "no" is taken if the question is about the image as a whole (its colours, the weather, inside or outside) or has
    # a verb ("is he wearing a hat?"), but not if it asks what a thing is called ("is it a kitten?").
    asked = question.text.strip().lower().rstrip(" ?.!")
    words = asked.split()
    plain = bool(words) and words[0] in _STARTS and "?" not in asked and _grammatical(question)
    several = "or" in words or not {"not", "and", "if", "n't"}.isdisjoint(token.lower for token in question.tokens)
    named = _NAMED.match(asked) and not _IMAGE.search(asked)
    no = answer.strip().lower().startswith("no") and not any(token.tag == "VBG" for token in question.tokens)
    return first(
        (not plain, "not a plain yes-no question"),
        (several, "more than one question"),
        (bool(_HEDGES.search(answer)), "a hedged answer"),
        (bool(_OPINION.search(asked)), "an opinion or a degree"),
        (no and bool(named), "a no to what a thing is called"),
    )


def _grammatical(question: Parsed) -> bool:
    """Whether the first auxiliary fits the verb: not "is the desk look wooden"."""
    tokens = [token for token in question.tokens if token.pos != "PUNCT"]
    if len(tokens) < 3:
        return False
    auxiliary = tokens[0].lower
    if auxiliary in {"do", "does", "did", "can"}:
        return any(token.tag in {"VB", "VBP"} for token in tokens[2:])
    finite = any(token.dep in {"ROOT", "ccomp"} and token.tag in {"VB", "VBP", "VBZ"} for token in tokens[1:])
    wrong = finite and any(token.tag in {"VB", "VBP"} for token in tokens[1:])
    return auxiliary not in {"is", "are", "was", "were"} or not wrong


# Coreference: "a woman on a motorcycle. is she wearing a helmet? yes." against "no." (VALSE, section 3.6 and A.6).
# Caption and foil are the caption of an image, a question of a dialog about it, and its answer cut down to "yes" or
# "no", in lower case as in the release. The release takes any question with a pronoun, and 77 % of its records are
# valid. ``coreference`` also asks whether the pronoun has an antecedent in the caption and whether the answer can be
# relied on; with ``checked=False`` it does as the release.

INSTRUMENTS: Mapping[str, str] = MappingProxyType({"train": "coreference-standard", "val": "coreference-clean"})
"""The instrument by VisDial's split; models that were trained on VisDial know the dialogs of the first."""

IMAGE_SHARE = 1 / 3  # the largest share of questions about an image as a whole ("is it sunny?") in a set

_OPPOSITE = {"yes": "no", "no": "yes"}
_ANSWER = re.compile(r"(?P<word>yes|no)(?![\w'\u2019-])(?! (?:and|or) (?:yes|no)\b)", re.IGNORECASE)
_END = " \t\n.,;:!?"


def posed(caption: str, question: str, answer: str) -> Foil | str:
    match = _ANSWER.match(answer.strip())
    scene, asked = caption.strip(_END).lower(), question.strip(_END).lower()
    if match is None:
        return "the answer does not begin with yes or no"
    if not scene or not asked:
        return "an empty caption or question"
    if not set(re.findall(r"\w+", asked)) & PRONOUNS:
        return "no pronoun"
    word = match["word"].lower()
    text, other = f"{scene}. {asked}?", _OPPOSITE[word]
    why = f'The answer in the dialog is "{word}", and the foil says "{other}".'
    return Foil(caption=f"{text} {word}.", foil=f"{text} {other}.", classes=(word, other), why=why)


def coreference(dialog: Dialog, caption: Parsed, questions: Sequence[Parsed], *, checked: bool = True) -> Perturbed:
    """Make a candidate of each turn of a dialog that has a pronoun in its question and yes or no for an answer."""
    # ``caption`` and ``questions`` are the dialog's texts, parsed. The tag ``antecedent`` is "image" if a question is
    # about the image as a whole ("is it sunny"), else "caption". ``selected`` chooses among those of all dialogs.
    if len(questions) != len(dialog.turns):
        raise ValueError(f"len(questions)={len(questions)!r} must be len(dialog.turns)={len(dialog.turns)!r}")
    outcomes: list[Foil | str] = []
    said: list[str] = []
    for turn, question in zip(dialog.turns, questions, strict=True):
        foil = posed(dialog.caption, turn.question, turn.answer)
        if isinstance(foil, Foil) and checked:
            foil = uncertain(question, turn.answer) or without_antecedent(question, caption, " ".join(said)) or foil
        if isinstance(foil, Foil):
            foil = replace(foil, tags={"antecedent": "image" if of_the_image(question) else "caption"})
        outcomes.append(foil)
        said.append(f"{turn.question} {turn.answer}")
    return Perturbed.of(*outcomes)


def selected(candidates: Sequence[Foil], *, seed: int, image_share: float = IMAGE_SHARE) -> tuple[int, ...]:
    """Choose candidates of which half say yes, and so, as far as possible, of each question of several dialogs."""
    # At most ``image_share`` of the chosen ones ask about the image as a whole: their "it" needs no antecedent. Nine in
    # ten questions whether the image is in colour are answered with yes, which a model that sees no image learns. So a
    # question says yes as often as no, or once more if that would leave fewer than ``ENOUGH``.
    says_yes = {index: 1 if made.classes[0] == "yes" else -1 for index, made in enumerate(candidates)}
    questions: dict[str, dict[int, float]] = {}
    for index, made in enumerate(candidates):
        question = made.caption.rpartition("? ")[0].rpartition(". ")[2]
        questions.setdefault(question, {})[index] = says_yes[index]
    images = [made.tags["antecedent"] == "image" for made in candidates]
    whole = ({index: 1 - image_share if of_image else -image_share for index, of_image in enumerate(images)}, 0)
    likes = generator(f"{seed}/coreference").random(len(candidates)).tolist()
    chosen: tuple[int, ...] = ()
    for more in (0, 1):
        ways = [
            ({index: way * sign for index, sign in row.items()}, more) for row in questions.values() for way in (1, -1)
        ]
        chosen = most(likes, [whole, *ways], [says_yes])
        if len(chosen) >= ENOUGH:
            break
    return chosen
