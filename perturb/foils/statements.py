"""Turn how-many questions with a numeral for an answer into statements that can be said with any number.

The templates are those of VALSE (appendix A.1, after Parcalabescu et al. 2021): "There are N animals shown". Where its
output is not English, another form is taken: an adjective goes before its noun ("3 green vegetables"), "have" becomes
"with" ("3 bottles with blue caps"), other verbs go into a relative clause ("3 buildings that surround the tower").
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from vlgate.perturb.foils.asked import BE, DO, HAVE, MODALS, Asked, asked, written
from vlgate.perturb.foils.noun_number import in_plural, in_singular, one_of, third_person, verb_form
from vlgate.perturb.foils.numerals import numeral
from vlgate.perturb.grammar import capitalised_like
from vlgate.perturb.parsing.parsed import Parsed, Token

Form = Literal["there", "object", "objects", "clause", "group"]

Frame = tuple[str, str]
"""What stands before and behind the quantifier of a statement, without the blanks around it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement with a place for a quantifier, and the number that is true of the image.

    ``many`` is worded for every number but one, ``one`` for one; ``one`` is None if the words behind the noun allow no
    singular. ``form`` is "there" ("There are # cups"), "object" ("The man has # cups"), "objects" ("The men have
    # cups"), "clause" ("# cups have been broken") or "group" ("# of the cups are red"). ``noun`` is what is counted, in the plural.
    """

    number: int
    noun: str
    one: Frame | None
    many: Frame
    form: Form

    def said(self, quantifier: str, *, one: bool = False) -> str | None:
        """Return the sentence with a quantifier, which may be empty, or None if it has no wording for one."""
        frame = self.one if one else self.many
        if frame is None:
            return None
        text = _BARE.sub(" the ", " ".join(part for part in (frame[0], quantifier, frame[1]) if part))
        return f"{capitalised_like('A', text)}."


def statement(question: Parsed, answer: str) -> Statement | str:
    """Turn a how-many question and its answer into a statement.

    Returns: the statement, or a short reason why there is none.
    """
    number = numeral(answer)
    if number is None:
        return "the answer is not a numeral"
    parts = asked(question)
    if isinstance(parts, str):
        return parts
    frames = _group(parts) if parts.group else _frames(parts)
    if isinstance(frames, str):
        return frames
    one, many, form = frames
    if number == 1 and one is None:
        return "no wording for one"
    noun = written(parts.noun)
    return Statement(number=number, noun=in_plural(parts.noun, parts.head) or noun, one=one, many=many, form=form)


_Frames = tuple[Frame | None, Frame, Form]


def _frames(parts: Asked) -> _Frames | str:
    """Choose the template by the verb of the question."""
    many, one = in_plural(parts.noun, parts.head), in_singular(parts.noun, parts.head)
    if many is None:
        return "the plural of the noun is not known"
    nouns = _Nouns(many=many, one=one)
    verb = parts.verb.lower if parts.verb else ""
    if not verb:
        return _there(parts, nouns, parts.after)
    if verb in BE:
        return _be(parts, nouns)
    if verb in DO:
        return _do(parts, nouns)
    if verb in HAVE:
        return _have(parts, nouns)
    if verb in MODALS:
        return _modal(parts, nouns)
    return _relative(parts, nouns)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Nouns:
    many: str
    one: str | None


def _there(parts: Asked, nouns: _Nouns, tail: tuple[Token, ...], before: str = "") -> _Frames | str:
    """Say "There are # nouns tail"; ``before`` are adjectives that go before the noun."""
    if tail and (tail[0].tag in {"CC", "EX"} or tail[-1].tag in {"CC", "DT"}):
        return "more than one clause"
    many, one = _tailed(tail, parts.front), one_of(tail)
    ahead = f"{before} " if before else ""
    one_text = None if nouns.one is None or one is None else f"{ahead}{nouns.one}{_blank(one)}{_front(parts.front)}"
    return (
        None if one_text is None else ("there is", one_text),
        ("there are", f"{ahead}{nouns.many}{many}"),
        "there",
    )


def _be(parts: Asked, nouns: _Nouns) -> _Frames | str:
    rest = parts.rest
    if rest and rest[0].lower == "there":
        return _there(parts, nouns, (*parts.after, *rest[1:]))
    if not rest:
        return "the question is not complete"
    first = rest[0]
    if first.tag == "CD" or first.lower in {"the", "all", "both", "same"} and rest[-1].lower in _SAMES:
        return "the predicate is a noun"
    if len(rest) == 1 and first.tag == "VBG" and parts.after:
        return _there(parts, nouns, (*_spaced(rest), *parts.after))
    if first.tag in {"VBG", "VBN", "VBD", "IN", "TO", "RP"} or first.lower.endswith("ing"):
        return _there(parts, nouns, (*parts.after, *rest))
    if first.tag[:2] in {"RB", "JJ", "VB"}:
        return _adjective(parts, nouns)
    if first.tag in {"DT", "PRP$", "PRP", "NNP", "NN", "NNS"}:
        return _progressive(parts, nouns)
    return "a verb that is not known"


_SAMES = frozenset({"color", "colors", "colour", "size", "kind", "type", "same"})
# Adjectives that stand behind the noun they are said of: "two boats visible", "a man asleep".
_LATE = frozenset(
    (
        *("visible", "present", "available", "open", "closed", "alone", "asleep", "awake", "alive", "afloat", "apart"),
        *("full", "ready", "able", "near", "close", "next", "similar", "empty", "airborne", "upright", "missing"),
        *("outside", "inside", "outdoors", "indoors", "afraid", "aboard", "unseen", "underwater", "barefoot", "shirtless"),
    )
)


def _adjective(parts: Asked, nouns: _Nouns) -> _Frames | str:
    """Put a predicate adjective before the noun, or leave it behind it if it may stand there."""
    rest = parts.rest
    end = next((n for n, word in enumerate(rest) if word.tag[:2] not in {"JJ", "RB", "CC"}), len(rest))
    adjectives = [word.lower for word in rest[:end] if word.tag[:2] == "JJ"]
    last = rest[end - 1] if end else rest[0]
    stays = not adjectives or adjectives[-1] in _LATE or last.tag == "RB" or rest[0].lower in {"not", "n't", "next"}
    follows = rest[end].tag if end < len(rest) else ""
    if adjectives and rest[0].lower in {"not", "n't"}:
        return "a negated adjective"
    if stays or (follows == "IN" and (last.tag == "JJR" or rest[end].lower in {"than", "as", "of", "for", "from"})):
        return _there(parts, nouns, (*parts.after, *rest))
    if follows in {"VBG", "VBN", "NN", "NNS", "TO"} or parts.after:
        return "an adjective with a complement"
    return _there(parts, nouns, rest[end:], before=written(rest[:end]))


def _progressive(parts: Asked, nouns: _Nouns) -> _Frames | str:
    """Say "The man is holding # nouns", for "How many nouns is the man holding?"."""
    rest = parts.rest
    verbs = [n for n, word in enumerate(rest) if word.tag == "VBG" or (word.lower.endswith("ing") and n > 1)]
    stranded = rest[-1].tag in {"IN", "RP", "TO"}
    if parts.verb is None or len(verbs) > 1 or (not verbs and not stranded):
        return "the predicate is a noun"
    at = verbs[0] if verbs else len(rest) - 1
    if at == 0 or parts.after or rest[0].tag == "PRP":
        return "the predicate is a noun"
    subject, verb, tail = rest[:at], rest[at : at + 1], rest[at + 1 :]
    if verbs and not stranded and verb[0].lower in _INTRANSITIVE:
        return "the verb has no object"
    if stranded:
        verb, tail = rest[at:], ()
    return _object(parts, nouns, f"{written(subject)} {parts.verb.text} {written(verb)}", tail)


_INTRANSITIVE = frozenset(
    (
        *("sitting", "standing", "lying", "laying", "sleeping", "going", "coming", "waiting", "walking", "running"),
        *("looking", "falling", "leaning", "kneeling", "swimming", "resting", "happening", "hanging", "facing"),
    )
)
_SEEING = frozenset({"see", "count", "find", "spot", "notice", "observe", "identify", "distinguish", "make", "view"})
_SEEN = frozenset({"seen", "viewed", "spotted", "found", "observed", "counted", "identified", "distinguished"})
_VIEWERS = frozenset({"you", "we", "i", "u", "one"})


def _object(parts: Asked, nouns: _Nouns, subject: str, tail: tuple[Token, ...]) -> _Frames | str:
    several = parts.verb is not None and parts.verb.lower in {"are", "were", "do"}
    if parts.after:
        nouns = _Nouns(
            many=f"{nouns.many} {written(parts.after)}",
            one=None if nouns.one is None else f"{nouns.one} {written(parts.after)}",
        )
    behind = _tailed(tail, parts.front)
    one = None if nouns.one is None or several else (subject, f"{nouns.one}{behind}")
    return one, (subject, f"{nouns.many}{behind}"), "objects" if several else "object"


def _do(parts: Asked, nouns: _Nouns) -> _Frames | str:
    """Say "The man has # nouns", for "How many nouns does the man have?"."""
    rest = parts.rest
    at = next((n for n, word in enumerate(rest) if n and word.tag in {"VB", "VBP"}), 0)
    if not at or parts.verb is None:
        return "a verb that is not known"
    subject, verb, tail = rest[:at], rest[at], rest[at + 1 :]
    if subject[0].lower in _VIEWERS and verb.lower in _SEEING:
        return _there(parts, nouns, (*parts.after, *tail))
    if subject[0].tag in {"PRP", "EX", "RB"} or verb.lower in {"take", "need"}:
        return "a verb that is not known"
    said = verb_form(verb.lower, {"does": "VBZ", "do": "VBP"}.get(parts.verb.lower, "VBD"))
    if tail and tail[-1].tag in {"IN", "RP", "TO"}:
        said, tail = f"{said} {written(tail)}", ()
    return _object(parts, nouns, f"{written(subject)} {said}", tail)


def _have(parts: Asked, nouns: _Nouns) -> _Frames | str:
    """Say "# nouns with caps" for "have caps", and "# nouns have been broken" for a perfect."""
    rest = parts.rest
    if not rest or parts.verb is None or parts.verb.lower == "had":
        return "the question is not complete"
    if rest[0].lower == "been" or (rest[0].tag in {"VBN", "VBD"} and (len(rest) == 1 or rest[1].tag[:2] != "NN")):
        return _clause(parts, nouns, ("have", "has"))
    if rest[0].tag not in {"DT", "JJ", "NN", "NNS", "PRP$", "VBN", "VBG"} or rest[0].lower in {"all", "both", "there"}:
        return "a verb that is not known"
    if parts.after:
        return _relative(parts, nouns)
    frames = _there(parts, nouns, rest)
    if isinstance(frames, str):
        return frames
    _, many, _ = frames
    plain = rest[0].tag == "DT" and not any(word.tag == "PRP$" for word in rest)
    one = None if nouns.one is None or not plain else ("there is", f"{nouns.one} with {written(rest)}")
    return one, (many[0], f"{nouns.many} with {_tailed(rest, parts.front).strip()}"), "there"


def _modal(parts: Asked, nouns: _Nouns) -> _Frames | str:
    rest = parts.rest
    if parts.verb is None or len(rest) < 2:
        return "the question is not complete"
    modal = parts.verb.lower
    if rest[0].lower == "be" and rest[1].lower in _SEEN:
        return _there(parts, nouns, (*parts.after, *rest[2:]))
    if rest[0].tag == "VB":
        return _clause(parts, nouns, (modal, modal))
    at = next((n for n, word in enumerate(rest) if n and word.tag in {"VB", "VBP"}), 0)
    if not at:
        return "a verb that is not known"
    subject, verb, tail = rest[:at], rest[at], rest[at + 1 :]
    clear = [word for word in subject[1:] if word.lower not in {"clearly"}]
    if subject[0].lower in _VIEWERS and verb.lower in _SEEING and not clear:
        return _there(parts, nouns, (*parts.after, *tail))
    if subject[0].tag in {"PRP", "EX", "RB"}:
        return "a verb that is not known"
    said = f"{written(subject)} {modal} {verb.text}"
    if tail and tail[-1].tag in {"IN", "RP", "TO"}:
        said, tail = f"{said} {written(tail)}", ()
    return _object(parts, nouns, said, tail)


def _clause(parts: Asked, nouns: _Nouns, verbs: tuple[str, str]) -> _Frames | str:
    after = f" {written(parts.after)}" if parts.after else ""
    behind = f"{written(parts.rest)}{_front(parts.front)}"
    one = None
    if nouns.one is not None and one_of(parts.rest) is not None:
        one = ("", f"{nouns.one}{after} {verbs[1]} {behind}")
    return one, ("", f"{nouns.many}{after} {verbs[0]} {behind}"), "clause"


_PERSONS = frozenset(
    {"people", "men", "women", "persons", "boys", "girls", "children", "kids", "players", "adults", "guys", "ladies"}
)


def _relative(parts: Asked, nouns: _Nouns) -> _Frames | str:
    """Say "# nouns that surround the tower", for "How many nouns surround the tower?"."""
    if parts.verb is None or not parts.rest or parts.rest[0].tag in {"CC", "VBD"}:
        return "the question is not complete"
    head = parts.noun[parts.head].lower
    link = f"{written(parts.after)} {'who' if head in _PERSONS else 'that'}".strip()
    many_verb, one_verb = third_person(parts.verb)
    if many_verb is None or one_verb is None:
        return "a verb that is not known"
    tail, one_tail = _tailed(parts.rest, parts.front), one_of(parts.rest, parts.verb.lower)
    one = None
    if nouns.one is not None and one_tail is not None:
        one = ("there is", f"{nouns.one} {link} {one_verb}{_blank(one_tail)}{_front(parts.front)}")
    return one, ("there are", f"{nouns.many} {link} {many_verb}{tail}"), "there"


def _group(parts: Asked) -> _Frames | str:
    """Say "# of the animals are giraffes"; the singular only if the predicate has no number of its own."""
    if parts.verb is None or not parts.rest or parts.rest[0].lower == "there":
        return "a part of a group without a verb"
    many_verb, one_verb = third_person(parts.verb)
    first = parts.rest[0]
    if many_verb is None or parts.verb.lower in DO | MODALS or first.tag in {"PRP", "CC", "EX"}:
        return "a verb that is not known"
    if parts.verb.lower in BE and first.tag in {"DT", "PRP$"}:
        return "the predicate is a noun"
    subject = written((*parts.noun, *parts.after))
    alone = parts.verb.lower in BE and first.tag in {"VBG", "VBN", "IN", "JJ", "RB"}
    one_tail = one_of(parts.rest) if alone else None
    one = None if one_tail is None else ("", f"{subject} {one_verb} {one_tail}{_front(parts.front)}")
    return one, ("", f"{subject} {many_verb}{_tailed(parts.rest, parts.front)}"), "group"


def _spaced(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    return tuple(replace(token, space=" ") for token in tokens)


def _tailed(tail: tuple[Token, ...], front: tuple[Token, ...]) -> str:
    return f"{_blank(written(tail))}{_front(front)}"


_BARE = re.compile(r"(?<= in) (?=(?:picture|photo|image|pic|photograph|background|foreground|frame|shot|scene)$)")


def _front(front: tuple[Token, ...]) -> str:
    text = written(front)
    return f" {text[:1].lower()}{text[1:]}" if text else ""


def _blank(text: str) -> str:
    return f" {text}" if text else ""
