"""From predictions to verdicts: what the replies to one case's requests say, as named booleans and a sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from vlgate.answers import normal_answer, read_answer
from vlgate.types import Ask, Batch, Case, Prediction, Request, Shape, State, Ties, Verdict

_Replies = tuple[Prediction, ...]
_Ruling = tuple[dict[str, bool], bool, str]
"""What a judge says of one case: the named booleans, whether all is right, and why."""
_UNJUDGED: Mapping[str, bool] = {}


def judge(batch: Batch, predictions: Mapping[Request, Prediction]) -> tuple[Verdict, ...]:
    """Judge each case of a batch by the replies to its requests.

    Args:
        batch: the cases, and what a tie counts.
        predictions: at least one a distinct request of the batch.

    Returns: one verdict a case, in the batch's order. A case that lacks a reply is ``skipped`` where that was asked
        for, and ``unscored`` otherwise; neither is right or wrong.
    Raises: KeyError where a request has no prediction at all.
    """
    ruling = _JUDGES[batch.table.shape]
    return tuple(
        _verdict(case, tuple(predictions[request] for request in case.requests), batch, ruling) for case in batch.cases
    )


def _verdict(case: Case, replies: _Replies, batch: Batch, ruling: _Judge) -> Verdict:
    problems = [(reply.skipped, why) for reply in replies if (why := _problem(reply)) is not None]
    if problems:
        lacking = min(problems)  # a failure comes before what was left out on purpose, wherever in the case it stands
        state: State = "skipped" if lacking[0] else "unscored"
        why = f"{case.origin or case.id}: {lacking[1]}"
        return Verdict(case=case, predictions=replies, state=state, right=False, facts=_UNJUDGED, why=why)
    facts, right, why = ruling(case, replies, batch)
    if cut := sum(reply.cut for reply in replies):
        why += f"; the model did not read the end of {cut} of {len(replies)} texts"
    return Verdict(case=case, predictions=replies, state="judged", right=right, facts=facts, why=why)


def _problem(reply: Prediction) -> str | None:
    """Why a reply cannot be judged: there is none, or its words name none of the choices."""
    if reply.problem is None and isinstance(reply.request, Ask) and reply.answer is not None and _said(reply) is None:
        return f"the answer {reply.answer!r} names none of {', '.join(map(repr, reply.request.choices))}, or several"
    return reply.problem


def _said(reply: Prediction) -> str | None:
    """What a reply to a question says, as its choices have it; None where it says nothing, or cannot be read."""
    choices = reply.request.choices if isinstance(reply.request, Ask) else ()
    if reply.answer is None:
        return None
    read = read_answer(reply.answer, choices) if choices else reply.answer
    return None if read is None else normal_answer(read)


def _judge_pair(_: Case, replies: _Replies, batch: Batch) -> _Ruling:
    caption, foil = (_score(reply) for reply in replies)
    facts = {"ranked": caption > foil, "tied": caption == foil}
    yes, no = (reply.accepted for reply in replies)
    if yes is not None and no is not None:
        facts["caption_accepted"], facts["foil_rejected"] = yes, not no
    order = "above" if caption > foil else "level with" if caption == foil else "below"
    why = f"the caption scores {caption:.6g}, {order} the foil's {foil:.6g}"
    return facts, _holds(caption, foil, batch.ties), why


def _judge_quad(_: Case, replies: _Replies, batch: Batch) -> _Ruling:
    i0c0, i0c1, i1c0, i1c1 = (_score(reply) for reply in replies)
    facts = {
        "text": i0c0 > i0c1 and i1c1 > i1c0,
        "image": i0c0 > i1c0 and i1c1 > i0c1,
        "tied": i0c0 in (i0c1, i1c0) or i1c1 in (i1c0, i0c1),
    }
    facts["group"] = facts["text"] and facts["image"]
    comparisons = ((i0c0, i0c1), (i1c1, i1c0), (i0c0, i1c0), (i1c1, i0c1))
    right = all(_holds(better, worse, batch.ties) for better, worse in comparisons)
    held = sum(better > worse for better, worse in comparisons)
    scores = f"picture 0: {i0c0:.6g}, {i0c1:.6g}; picture 1: {i1c0:.6g}, {i1c1:.6g}"
    return facts, right, f"{held} of 4 comparisons hold ({scores})"


def _judge_set(_: Case, replies: _Replies, batch: Batch) -> _Ruling:
    scores = [_score(reply) for reply in replies]
    true, false = scores[:2], scores[2:]
    facts = {
        "set_acc": min(true) > max(false),
        "set_error": min(false) > max(true),
        "tied": not set(true).isdisjoint(false),
    }
    held = sum(t > f for t in true for f in false)
    listed = "; ".join(f"{name}: {a:.6g}, {b:.6g}" for name, (a, b) in (("true", true), ("false", false)))
    why = f"{held} of 4 comparisons of a true with a false sentence hold ({listed})"
    return facts, _holds(min(true), max(false), batch.ties), why


def _judge_questions(case: Case, replies: _Replies, batch: Batch) -> _Ruling:
    answers = [_said(reply) for reply in replies]
    truths = [normal_answer(str(truth)) for truth in case.truths]
    same = answers[0] == answers[1]
    facts = {
        "original_right": answers[0] == truths[0],
        "perturbed_right": answers[1] == truths[1],
        # Two ties answer nothing, so they agree about nothing.
        "consistent": None not in answers and (same if batch.table.capability == "invariance" else not same),
    }
    why = f"answered {answers[0]!r} and {answers[1]!r}; right are {truths[0]!r} and {truths[1]!r}"
    return facts, facts["original_right"] and facts["perturbed_right"], why


def _holds(better: float, worse: float, ties: Ties) -> bool:
    return better >= worse if ties == "credit" else better > worse


def _score(reply: Prediction) -> float:
    if reply.score is None:
        raise ValueError(f"a judged reply has no score: {reply!r}")
    return reply.score


_Judge = Callable[[Case, _Replies, Batch], _Ruling]
_JUDGES: Mapping[Shape, _Judge] = {
    "pair": _judge_pair,
    "quad": _judge_quad,
    "set": _judge_set,
    "voices": _judge_set,
    "questions": _judge_questions,
}
