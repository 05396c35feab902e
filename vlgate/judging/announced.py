"""The part of a reply that gives the answer: after its thoughts, in its own turn, and announced if it is.

A reply may hold special tokens of a tokenizer, a run-on into the next question, and reasoning around an answer that it
announces: in a tag (``<answer>``, ``<CONCLUSION>``), in a box, in JSON, or on a line such as "Final answer: no".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from vlgate.judging.thoughts import after_thought

_BAR = r"[|\uff5c]"
_SPECIAL = re.compile(
    rf"<{_BAR}(?P<name>[^<>|\uff5c\n]{{1,40}}){_BAR}>|<(?P<bare>/?s|eo[sdt]|bos|pad|unk|sep|image|eot_id|0x[0-9a-f]{{2}}"
    r"|(?:start|end)_of_(?:turn|utterance|image|text|sentence)|\|[\w ]{1,30}|[\w ]{1,30}\|)>|\[/?INST\]",
    re.IGNORECASE,
)
# Tokens at which a turn ends, or another begins: "end" in box_end ends no turn.
_TURN = re.compile(
    r"/?s|eo[sdtm](?:_id)?|pad|sep(?:arator)?|end(?:of(?:text|turn))?|end.of.(?:text|turn|utterance|sentence|message)"
    r"|im.(?:end|start|user|system)|start.(?:header|of.(?:turn|role)).*|user|human|return|call|turn|inst",
    re.IGNORECASE,
)
_ROLE = re.compile(r"\s*(?:assistant|model|bot|gpt|chatbot|final)\s*(?:\n|\Z|(?=<))", re.IGNORECASE)
_SPEAKER = re.compile(r"\A\W*(?:assistant|model|chatbot|bot|gpt|ai)\s*:\s*", re.IGNORECASE)
_ANSWERER = re.compile(r"\n\W*(?:assistant|model|chatbot|bot|gpt|ai)\s*:", re.IGNORECASE)
_NEXT_TURN = re.compile(
    r"(?:^|\n)[#>*_ \t]*(?:question|q|user|human|instruction|input|query)[ \t]*\d{0,3}[*_ \t]*[:\uff1a]", re.IGNORECASE
)
_WHY = re.compile(
    r"(?:\n|(?<=[.!?]) )[#>*_ \t]*(?:explanation|reason(?:ing)?|rationale|justification|evidence|note)"
    r"[*_ \t]*[:\uff1a]",
    re.IGNORECASE,
)
_STRUCK = re.compile(r"~~[^~\n]+~~")
_LATEX = re.compile(r"\\(?:text\w*|math\w+|mbox|operatorname)\s*\{([^{}]*)\}")

_NAMES = (
    r"(?:answer|ans|conclusion|verdict|prediction|label|result|judge?ment|decision|response|output|solution|choice)"
)
_TAG_NAME = rf"(?:[a-z]+[ _-]){{0,3}}(?:{_NAMES}s?|final)(?:[ _-][a-z]+){{0,2}}"
_OPENING = re.compile(rf"<{_TAG_NAME}>|\[{_TAG_NAME}\](?!\()", re.IGNORECASE)
_CLOSING = re.compile(rf"</{_TAG_NAME}\s*>|\[/{_TAG_NAME}\s*\]", re.IGNORECASE)
_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
_TOKEN_BOX = re.compile(rf"<{_BAR}(begin|end).of.(?:box|{_NAMES}){_BAR}>", re.IGNORECASE)
_KEYED = re.compile(
    rf"""["'](?:[a-z]+[ _-]){{0,3}}{_NAMES}(?:[ _-][a-z]+){{0,2}}["']\s*:\s*\[?\s*
    (?:"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>[^'\n]*)'|(?P<bare>true|false|-?\d+(?:\.\d+)?))""",
    re.IGNORECASE | re.VERBOSE,
)
_QUALIFIED = (
    r"(?:(?:so|thus|hence|therefore|and|my|the|your|its|correct|final|right|best|short|direct|overall|predicted|"
    r"model|given)[,*_]*[ \t]+)*"
)
_LINE = re.compile(
    rf"""(?:^|(?<=[.!?][ ])|(?<=[.!?]))[#>*_`\-\u2022"'(\[ \t]*
    (?P<what>{_QUALIFIED}(?:answer|ans|verdict|conclusion|prediction|label|result|judge?ment|decision|response|output|
    choice)(?:[ ]to[ ][^:\n]{{1,80}})?(?:[ ](?:is|would[ ]be))?)
    (?:[\])*_"'` \t]*[:\uff1a=][*_`"'\])]*[ \t]*|[*_ \t]*(?=\n))""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_TURNS_BACK = re.compile(
    r"\b(?:wait|actually|correction|scratch that|i mean|on second thoughts?|my mistake|however)\b", re.IGNORECASE
)


def own_turn(reply: str) -> str | None:
    r"""Return what a reply says itself: without thoughts, special tokens, and what runs on after the answer.

    Returns: the text; None if a thought begins and does not end.

    >>> own_turn("<|im_start|>assistant\nNo<|im_end|>\n<|im_start|>user\nIs there a cat?")
    'No'
    >>> own_turn("No\n\nQuestion: Is there a cat?\nAnswer: Yes")
    'No'
    """
    text = after_thought(reply)
    if text is None:
        return None
    text = _TOKEN_BOX.sub(lambda mark: "<answer>" if mark[1].lower() == "begin" else "</answer>", text)
    text = _SPEAKER.sub("", _first_turn(text))
    if _NEXT_TURN.match(text) and (answerer := _ANSWERER.search(text)):  # it repeats the question first
        text = text[answerer.end() :]
    starts = [mark.start() for mark in _NEXT_TURN.finditer(text) if text[: mark.start()].strip()]
    return _LATEX.sub(r"\1", _STRUCK.sub(" ", text[: starts[0]] if starts else text)).strip()


def _first_turn(text: str) -> str:
    kept, start = "", 0
    for token in _SPECIAL.finditer(text):
        kept += text[start : token.start()]
        start = token.end()
        role = _ROLE.match(text, start)
        start = role.end() if role else start
        name = (token["name"] or token["bare"] or token[0].strip("[]")).strip("| ")
        if name == "/INST":  # what stands before it is the prompt
            kept = ""
        elif _TURN.fullmatch(name) and any(letter.isalnum() for letter in kept):
            return kept
        kept += " "
    return kept + text[start:]


def announced(text: str) -> str | None:
    r"""Return the answer that a reply announces in a tag, a box or JSON; None if there is none. The last one counts.

    >>> announced("<reasoning>At first, no.</reasoning><answer>Yes</answer>"), announced(r"So it is \boxed{B}.")
    ('Yes', 'B')
    >>> announced("Yes.") is None
    True
    """
    found = max(_announcements(text), default=None)
    if found is None:
        return None
    inner = announced(found[1]) if found[1] != text else None
    return found[1].strip() if inner is None else inner


def _announcements(text: str) -> Iterator[tuple[int, str]]:
    """The place and the content of the last announcement of each kind."""
    openings, closings = list(_OPENING.finditer(text)), list(_CLOSING.finditer(text))
    if openings:
        start = openings[-1].end()
        yield start, text[start : next((mark.start() for mark in closings if mark.start() >= start), None)]
    elif closings:  # the prompt opened it
        before = text[: closings[-1].start()]
        start = max(before.rfind(">"), before.rfind("\n\n")) + 1
        yield start, before[start:]
    if boxes := list(_BOX.finditer(text)):
        yield boxes[-1].end(), _balanced(text[boxes[-1].end() :])
    if keyed := list(_KEYED.finditer(text)):
        last = keyed[-1]
        yield last.end(), next(value for value in last.groups() if value is not None).replace('\\"', '"')


def _balanced(text: str) -> str:
    """The text up to the brace that closes it."""
    depth = 1
    for place, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if depth == 0:
            return text[:place]
    return text


def announced_lines(text: str) -> list[tuple[str, str]]:
    r"""Return what the lines of a reply announce that begin with "Answer:", "Verdict:" and the like.

    If some begin with "Final answer:", these count alone.

    Returns: for each, its first line and all that follows, up to the next one; the line is empty if the reply turns
        back from it later on ("Answer: yes. Wait, ...").

    >>> announced_lines("It barks, yes.\nConclusion: no\nIt is a seal.")
    [('no', 'no\nIt is a seal.')]
    """
    marks = list(_LINE.finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)] * bool(marks)
    found = [(mark["what"].lower(), text[mark.end() : end].strip()) for mark, end in zip(marks, ends, strict=True)]
    final = [one for one in found if "final" in one[0]]
    return [_line_and_rest(segment) for _, segment in final or found if segment]


def _line_and_rest(segment: str) -> tuple[str, str]:
    line, _, rest = segment.partition("\n")
    return ("" if _TURNS_BACK.search(rest) else line.strip(), segment)


def without_reasons(text: str) -> str:
    """Return a reply up to the explanation that follows its answer.

    >>> without_reasons("No. Explanation: one could think, yes, it barks.")
    'No.'
    """
    found = _WHY.search(text)
    return text[: found.start()].strip() if found and text[: found.start()].strip() else text
