"""The thoughts of a reasoning model, which stand before its answer and do not belong to it.

The marks are those of published chat templates: ``</think>`` (Qwen, DeepSeek, GLM), ``</seed:think>``, ``</thought>``
(EXAONE), ``[/THINK]`` (Magistral), ``◁/think▷`` (Kimi), ``<|END_THINKING|>`` (Command A), ``<|end_of_thought|>``, the
channels of gpt-oss (``<|channel|>final<|message|>``) and Gemma (``<|channel>thought ... <channel|>``), and
``<unused94>`` of MedGemma. Many templates open a thought in the prompt, so a reply may hold the end of one only.
"""

from __future__ import annotations

import re

_NAMES = r"(?:[a-z]+[:_-])?(?:think(?:ing)?|thoughts?|reason(?:ing|s)?|rationale|reflection|analysis|scratch_?pad|cot)"
_BAR = r"[|\uff5c]"  # DeepSeek's tokens have full-width bars, and U+2581 for a space
_OF = r"[_\u2581 -](?:of[_\u2581 -])?"
_FINAL = rf"<{_BAR}channel{_BAR}>\s*final\b(?:(?!<{_BAR}message).){{0,80}}<{_BAR}message{_BAR}>"
_END = re.compile(
    rf"</\s*{_NAMES}\s*>|\[/think(?:ing)?\]|\u25c1/\s*{_NAMES}\s*\u25b7|<{_BAR}/{_NAMES}{_BAR}>"
    rf"|<{_BAR}end{_OF}{_NAMES}{_BAR}>|<{_BAR}{_NAMES}{_OF}end{_BAR}>|{_FINAL}|<channel{_BAR}>|<unused95>"
    # gpt-oss, decoded without its special tokens
    r"|(?<=[\s.!?)\"'*])assistant\s*final(?=[\s(*\"']|(?-i:[A-Z\d]))|\Afinal(?=(?-i:[A-Z]))",
    re.IGNORECASE | re.DOTALL,
)
_BEGIN = re.compile(
    rf"<\s*{_NAMES}\s*>|\[think(?:ing)?\]|\u25c1\s*{_NAMES}\s*\u25b7|<{_BAR}{_NAMES}{_BAR}>"
    rf"|<{_BAR}(?:begin|start){_OF}{_NAMES}{_BAR}>|<{_BAR}{_NAMES}{_OF}(?:begin|start){_BAR}>"
    rf"|<{_BAR}channel{_BAR}>\s*(?:analysis|commentary)\b|<{_BAR}channel>\s*(?:thought|analysis)\b|<unused94>",
    re.IGNORECASE,
)
_TOKENS = re.compile(r"<[|\uff5c][^<>\n]{1,40}>|</?s>|<eo[sdt]>|<pad>|<end_of_turn>")
_ANSWERED = re.compile(r"<answer>[^<]*</answer>(?:\s|<[|\uff5c][^>]*>|</s>)*\Z", re.IGNORECASE)


def after_thought(text: str) -> str | None:
    """Return the answer that follows the thoughts of a reply.

    Everything up to the last end of a thought goes, whether the reply holds the beginning of the thought or not. If
    nothing follows, the answer is what stands before the first beginning.

    Args:
        text: the whole reply.

    Returns: the reply itself if it holds no thought; None if its last thought ends neither by its mark nor by an answer
        in tags at the end of the reply.

    >>> after_thought("At first, yes.</think>No dog is there."), after_thought("<think>A dog"), after_thought("No")
    ('No dog is there.', None, 'No')
    """
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
    """Return whether a reply holds a thought, or the end of one.

    >>> has_thought("No dog here.</think>Yes"), has_thought("Yes")
    (True, False)
    """
    return bool(_END.search(text) or _BEGIN.search(text))
