"""The part of a reply that gives the answer: after its thoughts, in its own turn, and announced if it is."""

import json
import re
from collections.abc import Iterator

# The thoughts of a reasoning model, which stand before its answer and do not belong to it.
# The marks are those of published chat templates: ``</think>`` (Qwen, DeepSeek, GLM), ``</seed:think>``,
# ``</thought>`` (EXAONE), ``[/THINK]`` (Magistral), ``◁/think▷`` (Kimi), ``<|END_THINKING|>`` (Command A),
# ``<|end_of_thought|>``, the channels of gpt-oss (``<|channel|>final<|message|>``) and Gemma (``<|channel>thought ...
# <channel|>``), and ``<unused94>`` of MedGemma. Many templates open a thought in the prompt, so a reply may hold the
# end of one only.

_THOUGHT_NAMES = (
    r"(?:[a-z]+[:_-])?(?:think(?:ing)?|thoughts?|reason(?:ing|s)?|rationale|reflection|analysis|scratch_?pad|cot)"
)
_BAR = r"[|\uff5c]"  # DeepSeek's tokens have full-width bars, and U+2581 for a space
_OF = r"[_\u2581 -](?:of[_\u2581 -])?"
_FINAL = rf"<{_BAR}channel{_BAR}>\s*final\b(?:(?!<{_BAR}message).){{0,80}}<{_BAR}message{_BAR}>"
_END = re.compile(
    rf"</\s*{_THOUGHT_NAMES}\s*>|\[/think(?:ing)?\]|\u25c1/\s*{_THOUGHT_NAMES}\s*\u25b7|<{_BAR}/{_THOUGHT_NAMES}{_BAR}>"
    rf"|<{_BAR}end{_OF}{_THOUGHT_NAMES}{_BAR}>|<{_BAR}{_THOUGHT_NAMES}{_OF}end{_BAR}>|{_FINAL}|<channel{_BAR}>|<unused95>"
    # gpt-oss, decoded without its special tokens
    r"|(?<=[\s.!?)\"'*])assistant\s*final(?=[\s(*\"']|(?-i:[A-Z\d]))|\Afinal(?=(?-i:[A-Z]))",
    re.IGNORECASE | re.DOTALL,
)
_BEGIN = re.compile(
    rf"<\s*{_THOUGHT_NAMES}\s*>|\[think(?:ing)?\]|\u25c1\s*{_THOUGHT_NAMES}\s*\u25b7|<{_BAR}{_THOUGHT_NAMES}{_BAR}>"
    rf"|<{_BAR}(?:begin|start){_OF}{_THOUGHT_NAMES}{_BAR}>|<{_BAR}{_THOUGHT_NAMES}{_OF}(?:begin|start){_BAR}>"
    rf"|<{_BAR}channel{_BAR}>\s*(?:analysis|commentary)\b|<{_BAR}channel>\s*(?:thought|analysis)\b|<unused94>",
    re.IGNORECASE,
)
_TOKENS = re.compile(r"<[|\uff5c][^<>\n]{1,40}>|</?s>|<eo[sdt]>|<pad>|<end_of_turn>")
_ANSWERED = re.compile(r"<answer>[^<]*</answer>(?:\s|<[|\uff5c][^>]*>|</s>)*\Z", re.IGNORECASE)


def after_thought(text: str) -> str | None:
    """Return the answer that follows the thoughts of a reply."""
    # Everything up to the last end of a thought goes, whether the reply holds the beginning of the thought or not. If
    # nothing follows, the answer is what stands before the first beginning.
    # The reply itself if it holds no thought; None if its last thought ends neither by its mark nor by an answer in
    # tags.
    ends = list(_END.finditer(text))
    rest = text[ends[-1].end() :] if ends else text
    if _BEGIN.search(rest):  # some replies close the answer, but not the thought before it
        answered = _ANSWERED.search(rest)
        return answered[0] if answered else None
    if ends and not _TOKENS.sub("", rest).strip():
        openings = [mark.start() for mark in _BEGIN.finditer(text, 0, ends[-1].start())]
        return (after_thought(text[: openings[-1]]) or "").strip() if openings else ""
    return rest.strip() if ends else text


def has_thought(text: str) -> bool:
    return bool(_END.search(text) or _BEGIN.search(text))


# A reply may hold special tokens of a tokenizer, a run-on into the next question, and reasoning around an answer that
# it announces: in a tag (``<answer>``, ``<CONCLUSION>``), in a box, in JSON, or on a line such as "Final answer: no".

_SPECIAL = re.compile(
    rf"<{_BAR}(?P<name>[^<>|\uff5c\n]{{1,40}}){_BAR}>|<(?P<bare>/?s|eo[sdt]|bos|pad|unk|sep|image|eot_id|0x[0-9a-f]{{2}}"
    r"|(?:start|end)_of_(?:turn|utterance|image|text|sentence)|\|[\w ]{1,30}|[\w ]{1,30}\|)>|\[/?INST\]"
    r"|\[(?P<square>CLS|SEP|PAD|EOS|BOS|UNK|MASK|UNUSED_TOKEN_\d{1,4})\]",
    re.IGNORECASE,
)
# Tokens at which a turn ends, or another begins: "end" in box_end ends no turn.
_TURN = re.compile(
    r"/?s|eo[sdtm](?:_id)?|pad|sep(?:arator)?|end(?:of(?:text|turn))?|end.of.(?:text|turn|utterance|sentence|message)"
    r"|im.(?:end|start|user|system)|start.(?:header|of.(?:turn|role)).*|user|human|return|call|turn|inst|unused_token_\d+",
    re.IGNORECASE,
)
_USER = re.compile(
    rf"<{_BAR}(?:im_start|start){_BAR}>\s?user\b|<{_BAR}(?:user|im_user|start_header_id{_BAR}>user)|<start_of_turn>user"
    r"|(?<=</s>)\s?\[INST\]|(?<=\w)\s?\[INST\]",
    re.IGNORECASE,
)
_ROLE = re.compile(r"\s*(?:assistant|model|bot|gpt|chatbot|final)\s*(?:\n|\Z|(?=<))", re.IGNORECASE)
_SPEAKER = re.compile(r"\A\W*(?:assistant|model|chatbot|bot|gpt|ai)\s*:\s*", re.IGNORECASE)
_ANSWERER = re.compile(r"\n[^\w\n]{0,8}(?:assistant|model|chatbot|bot|gpt|ai|a) ?:|(?-i:\bASSISTANT ?:)", re.IGNORECASE)
_NEXT_TURN = re.compile(
    r"(?:^|\n)[#>*_ \t]{0,8}(?:question|q|user|human|instruction|input|query)[ \t]?\d{0,3}[*_ \t]{0,4}[:\uff1a]"
    r"|(?-i:\bUSER ?:)",
    re.IGNORECASE,
)
_WHY = re.compile(
    r"(?:\n|(?<=[.!?]) )[#>*_ \t]{0,8}(?:explanation|reason(?:ing)?|rationale|justification|evidence|note)"
    r"[*_ \t]{0,4}[:\uff1a]",
    re.IGNORECASE,
)
_PLACES = re.compile(rf"<{_BAR}(box|quad|point)_start{_BAR}>.{{0,200}}?<{_BAR}\1_end{_BAR}>", re.DOTALL)
_CONCLUDES = re.compile(
    r"(?:^|[.!?;,\n][ \n]?|\b(?:so|therefore|thus|hence) )(?:so,? |therefore,? |thus,? |hence,? )?(?:the|my) "
    r"(?:(?:correct|final|right|best|most|likely|appropriate|accurate) ){0,2}(?:answer|option|choice|one) "
    r"(?:is|would be|must be|should be)[ :]{1,2}([^.!?\n]{1,200})",
    re.IGNORECASE,
)
SECOND_LOOK = (
    r"(?:(?:up)?on (?:(?:an? )?(?:close[rd]?|second|further|careful) )?(?:inspection|look(?:ing)?|thoughts?|"
    r"examination|reflection|consideration|review)|looking (?:again|closer|more closely)|hold on|hmm+|"
    r"let me (?:re\w+|look again|check again|think again|double[- ]check)|"
    r"i misspoke|i was wrong|my mistake|scratch that|correction|i mean)"
)
_CONTRARY = re.compile(
    rf"\b(?:if|incorrect|wrong|unless|whether|or rather|wait|actually|{SECOND_LOOK})\b", re.IGNORECASE
)
_STRUCK = re.compile(r"~~[^~\n]+~~")
_LATEX = re.compile(r"\\(?:text\w*|math\w+|mbox|operatorname)\s*\{([^{}]*)\}")

_NAMES = (
    r"(?:answer|ans|conclusion|verdict|prediction|label|result|judge?ment|decision|response|output|solution|choice)"
)
_RANKS = {"answer": 3, "ans": 3, "final": 3, "label": 1}  # of a name that announces; of all others 2
_QUALIFIERS = frozenset("best chosen correct final full model my overall predicted selected short the your".split())
_TAG_NAME = r"[a-z]{1,20}(?:[ _-][a-z]{1,20}){0,3}"
_OPENING = re.compile(rf"<({_TAG_NAME})>|\[({_TAG_NAME})\](?!\()", re.IGNORECASE)
_CLOSING = re.compile(rf"</({_TAG_NAME})\s?>|\[/({_TAG_NAME})\s?\]", re.IGNORECASE)
_BOX = re.compile(r"\\(?:boxed|fbox) ?\{")
_TOKEN_BOX = re.compile(rf"<{_BAR}(begin|end).of.(?:box|{_NAMES}){_BAR}>", re.IGNORECASE)
_KEYED = re.compile(
    r"""["'](?P<key>[a-z][a-z _-]{0,40})["']\s{0,20}:\s{0,20}
    (?:(?P<list>\[)\s{0,20}|\{\s{0,20}["'](?:value|text)["']\s{0,20}:\s{0,20})?
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
    rf"(?:^|[.!?\n] ?)(?:(?:no|oh|but|however),? )?(?:wait|actually|{SECOND_LOOK})\b", re.IGNORECASE
)


def own_turn(reply: str) -> str | None:
    """Return what a reply says itself, without what runs on after the answer; None if a thought does not end."""
    text = after_thought(_users_turn(reply))
    if text is None:
        return None
    text = _PLACES.sub(" ", text)
    text = _TOKEN_BOX.sub(lambda mark: "<answer>" if mark[1].lower() == "begin" else "</answer>", text)
    text = _SPEAKER.sub("", _first_turn(text))
    if _NEXT_TURN.match(text) and (answerer := _ANSWERER.search(text)):  # it repeats the question first
        text = text[answerer.end() :]
    starts = [mark.start() for mark in _NEXT_TURN.finditer(text) if text[: mark.start()].strip()]
    return _LATEX.sub(r"\1", _STRUCK.sub(" ", text[: starts[0]] if starts else text)).strip()


def _users_turn(reply: str) -> str:
    """The reply up to the next turn of the user, who may be answered with further thoughts."""
    for mark in _USER.finditer(reply):
        if any(letter.isalnum() for letter in _SPECIAL.sub("", reply[: mark.start()])):
            return reply[: mark.start()]
    return reply


def _first_turn(text: str) -> str:
    parts: list[str] = []
    start, said = 0, False
    for token in _SPECIAL.finditer(text):
        parts.append(text[start : token.start()])
        said = said or any(letter.isalnum() for letter in parts[-1])
        start = token.end()
        role = _ROLE.match(text, start)
        start = role.end() if role else start
        name = (token["name"] or token["bare"] or token["square"] or token[0].strip("[]")).strip("| ")
        if name == "/INST":  # what stands before it is the prompt
            parts, said = [], False
        elif said and _TURN.fullmatch(name):
            return "".join(parts)
        parts.append(" ")
    return "".join(parts) + text[start:]


def announced(text: str) -> str | None:
    """Return the last answer that a reply announces in a tag, a box or JSON; None if there is none."""
    found = max(_announcements(text), default=None)
    if found is None:
        return None
    content = found[2]
    rest = text[found[1] :].partition(content)[2] if content and content != text else ""
    if _TURNS_BACK.search(rest):
        return ""
    inner = announced(content) if content != text else None
    return content.strip() if inner is None else inner


def _rank(name: str) -> int:
    """How surely a tag or a key announces the answer; 0 if it does not, as "confidence" and "wrong answer"."""
    *qualifiers, last = re.split(r"[ _-]", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower())
    if not _QUALIFIERS.issuperset(qualifiers) or not (last == "final" or re.fullmatch(rf"{_NAMES}s?", last)):
        return 0
    return _RANKS.get(last.removesuffix("s"), 2)


def _announcements(text: str) -> Iterator[tuple[int, int, str]]:
    openings = [(_rank(mark[1] or mark[2]), mark.end()) for mark in _OPENING.finditer(text)]
    closings = [mark for mark in _CLOSING.finditer(text) if _rank(mark[1] or mark[2])]
    rank, start = max(openings, default=(0, 0))
    if rank:
        yield rank, start, text[start : next((mark.start() for mark in closings if mark.start() >= start), None)]
    elif closings:  # the prompt opened it
        before = text[: closings[-1].start()]
        start = max(before.rfind(">"), before.rfind("\n\n")) + 1
        yield 2, start, before[start:]
    if boxes := list(_BOX.finditer(text)):
        yield 3, boxes[-1].end(), _balanced(text[boxes[-1].end() :])
    keyed = [(_rank(mark["key"]), mark.end(), _value(mark, text)) for mark in _KEYED.finditer(text)]
    best = max(keyed, default=(0, 0, ""))
    several = {value for rank, _, value in keyed if rank == best[0]}
    if best[0] > 1 or (best[0] == 1 and len(several) == 1):
        yield best


def _value(mark: re.Match[str], text: str) -> str:
    if mark["list"] and text[mark.end() :].lstrip().startswith(","):  # several answers
        return ""
    if mark["double"] is None:
        return mark["single"] if mark["single"] is not None else mark["bare"]
    try:
        return str(json.loads(f'"{mark["double"]}"'))
    except ValueError:
        return mark["double"]


def _balanced(text: str) -> str:
    depth = 1
    for index, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if depth == 0:
            return text[:index]
    return text


def announced_lines(text: str) -> list[tuple[str, str]]:
    """Return what the lines of a reply announce that begin with "Answer:" or the like; a "Final answer:" alone."""
    # Each with its first line and all that follows; the line is empty if the reply turns back from it later on.
    marks = list(_LINE.finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)] * bool(marks)
    found = [(mark["what"].lower(), text[mark.end() : end].strip()) for mark, end in zip(marks, ends, strict=True)]
    final = [one for one in found if "final" in one[0]]
    lines = [(segment, *segment.partition("\n")) for _, segment in final or found if segment]
    return [("" if _TURNS_BACK.search(rest) else line.strip(), segment) for segment, line, _, rest in lines]


def conclusions(text: str) -> tuple[list[str], str]:
    """Return what sentences such as "So the answer is red" say, and what follows the last one."""
    # None if one is conditional, names a wrong answer, or is taken back
    found = list(_CONCLUDES.finditer(text))
    if not found or _CONTRARY.search(text):
        return [], ""
    return [mark[1] for mark in found], text[found[-1].end() :]


def sentences(text: str) -> list[str]:
    return [one for one in re.split(r"(?:[.!]|\n)\s{1,4}", text.strip(), maxsplit=20) if one.strip()]


def without_reasons(text: str) -> str:
    match = _WHY.search(text)
    return text[: match.start()].strip() if match and text[: match.start()].strip() else text
