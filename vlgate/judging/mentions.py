"""What the sentences of a reply say about the choices that they mention: named, denied, guessed or only offered."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from string import ascii_lowercase

from vlgate.judging.announced import SECOND_LOOK
from vlgate.judging.labels import MARK, WORDS, words_of

STOPS = frozenset(".,;!?\n|-\u2013\u2014\u2026\u3001\u3002")  # the tokens that end a clause
_OPEN = "("  # what follows in brackets is another clause, but "not (red)" is one
_SENTENCE_ENDS = frozenset(".!?\n\u3002")
_CLAUSE = 60  # words of a clause that are looked at; a longer one is a loop
_NUMBER = r"\d+(?:[.,:]\d+)*"
_TOKEN = re.compile(
    rf"{MARK}-?\d+|{_NUMBER}(?:(?:[-\u2013/]| to ){_NUMBER})+(?!\w)|(?<![\w.)\]])-{_NUMBER}|{_NUMBER}(?![\w+#])"
    r"|\w+(?:['-]\w+)*(?:[+#]+(?!\w))?|[.,;!?\n|(\u2013\u2014\u2026\u3001\u3002]|\s-\s"
)
_SECTION = re.compile(r"(?:^|(?<=[,;] ))([^\w\n]{0,8}[a-z]+(?: [a-z\d]+)?[^\w\n:]{0,8}):", re.MULTILINE)


_LEADS = WORDS["leads"]
_ANNOUNCES = words_of("answer be boxed choose pick reply response select verdict conclusion")
_OFFERED = words_of("caption choice description option output")  # these announce an answer if "is" follows
_BLOCKS = WORDS["blocks"]
_MODALS = words_of("cannot could hardly may might never nowhere")
_BREAKS = words_of("although because but however since though whereas while")
_JOINS = _BREAKS | {"and", "or"}
_BOUNDS = words_of("least most between over above below under exceeds exceeding")
_TIMES = words_of("dozen hundred thousand million billion")
_NUMERALS = words_of("one two three four five six seven eight nine ten eleven twelve twenty")
_IS = WORDS["is"]
_WRONG = WORDS["wrong"]
_AFTER = WORDS["after"]
_UNSURE = (
    r"\b(?:can ?not|can't|could(?: not|n't)|unable to|(?:im|not )possible to|hard to|difficult to|no way to)"
    r" (?:\w+ )?(?:answer|assist|be (?:certain|sure)|decide|determined?|help|judge|know|provide|say|tell)\b"
    r"|\b(?:do not|don't|not) know\b|\b(?:no idea|depends on|unsure|unclear|uncertain)\b"
    r"|\bnot (?:\w+ )?(?:sure|certain)\b|\bnot (?:\w+ )?clear (?:enough|from|if|what|whether|which)\b"
    r"|(?:^|\| |\bis |\bare )unknown\b|(?:^|\| )(?:either|maybe|perhaps|possibly)(?= \||$)"
)
_PICTURE = r"(?:(?:an?|any|the|this|that|your) )?(?:attached )?(?:image|picture|photo|photograph)s?"
NO_IMAGE = re.compile(  # of a reply to a question whose image did not arrive
    r"\b(?:can ?not|can't|(?:am |i'm )?(?:unable|not able) to|(?:do|did)(?: not|n't)) (?:\w+ )?"
    r"(?:view|see|access|process|analy[sz]e|open|load|receive|display|have (?:access to|the ability to \w+)) "
    rf"{_PICTURE}\b(?! (?:of|with|in|clearly))"
    rf"|(?:\bno|{MARK}) {_PICTURE} (?:is|was|has been|have been|were|are)? ?(?:attached|provided|uploaded|shared)\b"
    r"|\b(?:please|(?:can|could) you|you (?:can|could)|need you to)(?: \w+){0,2} "
    r"(?:upload|provide|attach|share|send|re-?upload)\b"
)
_HEDGE = re.compile(rf"{_UNSURE}|{NO_IMAGE.pattern}")
_HEDGE_OR_NEITHER = re.compile(rf"{_HEDGE.pattern}|\b(?:neither|none of)\b")
_ABOUT_ELSE = re.compile(
    r"^(?:its|their|his|her|the|a|an|whose)\b(?! (?:answer|question)\b)"
    r"|\b(?:tell|say|know|see|determine|sure|certain|clear|unclear)(?: about| of)?"
    r" (?:who|what|which|where|how|when|its|the|their)\b(?! answer)"
)
_DENIED = re.compile(
    r"\b(?:any|every|all)(?:thing|body|one|where)?(?: \w+)? but\b"
    r"|\b(?:other|apart|aside|far|different|away|distinct) (?:than|from)\b"
    r"|\b(?:rul(?:e|es|ed|ing) out|the (?:opposite|contrary|reverse|inverse) (?:of|to))\b"
    r"|\b(?:fails? to be|no longer|besides)\b"
    r"|\b(?:wrong|incorrect|false|inaccurate|untrue|mistaken|a (?:lie|mistake)|an error)"
    r"(?= (?:to|that|if|answer|choice|option|reply|response)\b)"
)
_NOTHING_BUT = re.compile(r"\b(?:nothing|none) (?:but|other than|except)\b|\bnot (?:only|just|merely)\b")
_IDIOMS = re.compile(r"\bn/a\b|\b(?:you(?:'re| are)|all) right\b|\bright (?:away|now)\b")
_TAKEN_BACK = re.compile(
    rf"\b(?:or rather|sorry|{SECOND_LOOK})\b"
    rf"|(?:^|\| )(?:(?:{MARK}|no|oh|hmm|but) )*wait(?= \||$)"
    rf"|{MARK} (?:(?:\||no|oh|but) )*(?:actually|make that)\b"
)
_WRONG_THAT = re.compile(
    rf"(?:\| )?(?:that|this|it|which)(?:'s| is| was| would be)(?: an?)? (?:{'|'.join(sorted(_WRONG))})\b"
)
_CONDITION = r"\b(?:if|were) (?:there|it|the|this|you|an?)\b[^|]*"
_CONDITIONAL = re.compile(rf"{_CONDITION}(?:\| )?[^|]*\bwould\b|\bwould\b[^|]*(?:\| )?{_CONDITION}")
_FILLS = WORDS["fills"]
SPOKEN = {"yeah": "yes", "yep": "yes", "yup": "yes", "nah": "no", "nope": "no"}  # spoken forms of yes and no
_CJK = r"[\u3040-\u30ff\u3400-\u9fff]"
_SEAM = re.compile(rf"(?<={_CJK})(?=[a-z0-9{MARK}])|(?<=[a-z0-9])(?={_CJK})")
_PRIVATE = re.compile("[\ue000-\ue00f]")
_APOSTROPHE = re.compile(r"(?<=\w)[\u2018\u2019\u00b4`](?=\w)")
_WITHOUT_APOSTROPHE = re.compile(r"\b(is|are|was|were|do|does|did|could|would|should|has|have)nt\b")
_CROSSES = dict.fromkeys(map(ord, "\u274c\u274e\u2717\u2718\u2716"), " crossmark ")  # denies the choice beside it


@dataclass(frozen=True, slots=True)
class Mention:
    """A choice named in a reply: its number (-1 for an option that was not offered), its position and its words."""

    choice: int
    place: int
    words: tuple[str, ...]


Tokens = list[str | Mention]


def folded(text: str) -> str:
    text = _APOSTROPHE.sub("'", text)  # first: the normal form of an acute accent is a space with one
    return unicodedata.normalize("NFKC", text).replace("\u2019", "'").replace("\u2212", "-").casefold()


def without_marks(text: str) -> str:
    return _PRIVATE.sub("", text)


def tokens_of(text: str) -> list[str]:
    text = _IDIOMS.sub(" ", _SEAM.sub(" ", _SECTION.sub(_as_clause, _WITHOUT_APOSTROPHE.sub(r"\1n't", text))))
    text = _DENIED.sub(" except ", _NOTHING_BUT.sub(" ", text.translate(_CROSSES)))
    text = re.sub(r"(?<!\d)/|/(?!\d)", " or ", text).replace("_", " ")
    return [token.strip(" ") or "-" for token in _TOKEN.findall(re.sub(r":\s{1,20}", " ", text))]


def _as_clause(section: re.Match[str]) -> str:
    """The head of a section as a clause of its own, unless it denies what follows: "Reasoning:", but not "Not:"."""
    words = set(re.findall(r"\w+", section[1]))
    denies = _BLOCKS.union(_WRONG) & words and not words <= {"no", *SPOKEN}
    return section[0] if denies else f"{section[1]}\n"


def named_choice(tokens: Tokens) -> int | None:
    """Return the number of the only choice that a reply names; None for none, several, one not offered, or a hedge."""
    offered, together = _coordinated(tokens)
    mentions = [token for token in tokens if isinstance(token, Mention)]
    free = [mention for mention in mentions if mention.place not in offered]
    if len({one.choice for one in free}) > 1 and _TAKEN_BACK.search(_joined(tokens)):
        return None
    asked = _asked(tokens)
    named = [one for one in free if not asked[one.place] and _affirmed(one, tokens)]
    several = len({mention.choice for mention in named}) != 1 or any(one.place in together for one in named)
    if several or named[0].choice < 0 or _CONDITIONAL.search(_joined(tokens)):
        return None
    # "Yes" or "no" as the wrong answer says nothing certain about the other one.
    others = [mention for mention in mentions if mention not in named and _is_answer_word(mention.words)]
    excepted = [other for other in others if "except" in _before(other, tokens, _JOINS)]
    if any(_spoken(one, tokens, _LEADS | {"except"}) for one in excepted):
        return None
    if _hedged(tokens) and not any(_announced(one, tokens) and not _hedged(tokens[one.place :]) for one in named[:9]):
        return None
    return named[0].choice


def _joined(tokens: Tokens) -> str:
    return " ".join(
        MARK if isinstance(token, Mention) else "|" if token in STOPS or token == _OPEN else token for token in tokens
    )


def _asked(tokens: Tokens) -> list[bool]:
    found, asks = [False] * len(tokens), False
    for index in range(len(tokens) - 1, -1, -1):
        token = tokens[index]
        if not isinstance(token, Mention) and token in _SENTENCE_ENDS:
            asks = "?" in token
        found[index] = asks
    return found


def _coordinated(tokens: Tokens) -> tuple[set[int], set[int]]:
    """The places of choices that are offered ("red or blue"), and of those that are named together ("red and blue")."""
    offered: set[int] = set()
    together: set[int] = set()
    mentions = [token for token in tokens if isinstance(token, Mention)]
    for first, second in reversed(list(pairwise(mentions))):
        if first.choice == second.choice or second.place - first.place > 8:
            continue
        between = [token for token in tokens[first.place + 1 : second.place] if isinstance(token, str)]
        words = [token for token in between if token not in _FILLS and token not in STOPS]
        stopped = any(token in STOPS for token in between)
        bare = {*between} <= {",", "a", "an", "the"} and "," in between and _follows(second, tokens) in STOPS
        if words in (["or"], ["and", "or"]) or (not words and second.place in offered and stopped):
            offered |= {first.place, second.place}
        elif _ends(second, tokens) and (
            words in (["and"], ["as", "well", "as"], ["plus"]) or bare or (not words and second.place in together)
        ):
            together |= {first.place, second.place}
    return offered, together


def _follows(mention: Mention, tokens: Tokens) -> str | Mention:
    return tokens[mention.place + 1] if mention.place + 1 < len(tokens) else "."


def _ends(mention: Mention, tokens: Tokens) -> bool:
    follows = _follows(mention, tokens)
    if isinstance(follows, Mention) or not _is_answer_word(mention.words):
        return True
    return follows in STOPS or follows == _OPEN or follows in _IS


def _is_answer_word(words: tuple[str, ...]) -> bool:
    """Whether a choice is "yes", "no" or a letter, which are words of sentences about other things, too."""
    return words[0] in {"yes", "no", *SPOKEN} or (len(words) == 1 and words[0] in ascii_lowercase)


def _with_another(mention: Mention, tokens: Tokens) -> bool:
    """Whether a choice stands beside an answer that is not offered, or a number beside a bound: "red or maroon"."""
    before, after = tokens[max(0, mention.place - 3) : mention.place], tokens[mention.place + 1 : mention.place + 3]
    if (after[:1] == ["or"] and _all_words(after[1:])) or (before[-1:] == ["or"] and _all_words(before[:-1])):
        return True
    if not mention.words[0].isdigit() and mention.words[0] not in _NUMERALS:
        return False
    bounded = before[-2:] == ["up", "to"] or not _BOUNDS.isdisjoint(before[-2:])
    return bounded or not _TIMES.isdisjoint(after[:1])


def _all_words(tokens: Tokens) -> bool:
    return bool(tokens) and all(isinstance(word, str) and word not in STOPS | _JOINS for word in tokens)


def _affirmed(mention: Mention, tokens: Tokens) -> bool:
    if _with_another(mention, tokens):
        return False
    if _is_answer_word(mention.words):
        return _spoken(mention, tokens, _LEADS)
    before, after = list(_before(mention, tokens, _BREAKS)), list(_after(mention, tokens, _BREAKS))
    if any(map(_blocks, before)) or _in_denied_list(mention, tokens) or _denied(after):
        return False
    return not any(word in _WRONG or word == "if" or word.endswith("n't") for word in after)


def _blocks(word: str) -> bool:
    return word in _BLOCKS or word.endswith("n't")


def _in_denied_list(mention: Mention, tokens: Tokens) -> bool:
    """Whether a choice goes on with a list that is denied: "no cars, trucks, or other vehicles"."""
    end = mention.place
    for _ in range(_CLAUSE):
        while end > 0 and tokens[end - 1] in {"a", "an", "any", "the", "or", "nor", "other"}:
            end -= 1
        if end == 0 or tokens[end - 1] != ",":
            return False
        item = list(_before(Mention(0, end - 1, ()), tokens, _BREAKS))  # nearest first
        if any(map(_blocks, item[1:])):
            return True
        if len(item) > 3:  # a clause, no item of a list
            return False
        end -= 1 + len(item)
    return False


def _denied(after: Sequence[str]) -> bool:
    """Whether what follows a choice denies it: "is not the one", "is the wrong answer", "can be ruled out"."""
    verbs = [index for index, word in enumerate(after[:3]) if word in _IS or word.endswith("n't")]
    if not verbs:
        return after[:1] == ["out"] or (bool(after) and after[0] in _MODALS)
    rest = after[verbs[0] + 1 :]
    if after[verbs[0]] in _MODALS or after[verbs[0]].endswith("n't") or rest[-1:] == ["out"]:
        return True
    contrasts = {"not", "rather", "instead", "than", "no"}  # "is red, not blue" denies the other one
    return any(
        (_blocks(word) or word in _WRONG) and not (word in contrasts and MARK in (then, after_then))
        for word, then, after_then in zip(rest, [*rest[1:], ""], [*rest[2:], "", ""], strict=False)
    )


def _spoken(mention: Mention, tokens: Tokens, leads: frozenset[str]) -> bool:
    before = list(_before(mention, tokens, _JOINS))  # nearest first
    if "answer" in before and not any(_blocks(word) for word in before if word != "except"):
        before = before[: before.index("answer")] if "except" not in before else before
    if not all(word in leads or word == MARK for word in before):
        return False
    after = list(_after(mention, tokens, _JOINS))
    if not after:
        return not _called_wrong(mention, tokens)
    if after[0] in _IS or after[0] == "out":
        return not _denied(after) and _WRONG.isdisjoint(after)
    return after[0] == MARK or (after[0] in _AFTER and not _called_wrong(mention, tokens))


def _called_wrong(mention: Mention, tokens: Tokens) -> bool:
    return _WRONG_THAT.match(_joined(tokens[mention.place + 1 : mention.place + 9])) is not None


def _announced(mention: Mention, tokens: Tokens) -> bool:
    before = list(_before(mention, tokens, _BREAKS))
    said = not _ANNOUNCES.isdisjoint(before) or ("is" in before and not _OFFERED.isdisjoint(before))
    return said and all(word in _LEADS for word in before)


def _hedged(tokens: Tokens) -> bool:
    """Whether the reply hedges; after a choice, it may hedge about something else: "yes, but its breed is unclear"."""
    # After a "yes" or "no" at its beginning, "neither" is not a hedge.
    opening = tokens[0] if tokens else ""
    plain = isinstance(opening, Mention) and opening.words in {("yes",), ("no",)}
    hedge = _HEDGE if plain else _HEDGE_OR_NEITHER
    text = _joined(tokens)
    if not hedge.search(text):
        return False
    named = False
    for clause in re.split(r"\||\b(?:although|because|but|however|since|though|whereas|while)\b", text):
        about = clause.strip()
        if hedge.search(f"| {about}") and not (named and _ABOUT_ELSE.search(about)):
            return True
        named = named or MARK in clause
    return False


def _before(mention: Mention, tokens: Tokens, breaks: frozenset[str]) -> Iterator[str]:
    """The words back to the beginning of the clause; a choice that is named there becomes a neutral mark."""
    for index in range(mention.place - 1, max(-1, mention.place - _CLAUSE), -1):
        token = tokens[index]
        if isinstance(token, Mention):
            yield MARK
        elif token in STOPS or token in breaks:
            return
        elif token != _OPEN:
            yield token


def _after(mention: Mention, tokens: Tokens, breaks: frozenset[str]) -> Iterator[str]:
    for token in tokens[mention.place + 1 : mention.place + _CLAUSE]:
        if isinstance(token, Mention):
            yield MARK
        elif token in STOPS or token in breaks or token == _OPEN:
            return
        else:
            yield token
