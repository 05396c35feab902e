"""Disputes: a file of cases whose labels are wrong or open to doubt, which a run corrects or leaves out, and counts.

A file holds JSON lines with ``task``, ``case``, ``claim``, ``evidence`` and optionally ``source`` and ``truths``:

    {"task": "valse/existence", "case": "existence_visual7w_2371044", "claim": "swapped", "evidence": "a crowd"}

``wrong``, ``ambiguous`` and ``broken`` leave the case out of all metrics. ``swapped`` exchanges what is true and what
is false, and ``truths`` (one entry per request, with ``wrong``) says what is right instead. A line may name many
``cases`` instead of a ``case``, with the ``fingerprint`` of what they ask. ``KNOWN`` is such a file, which comes with
vlgate.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vlgate.errors import did_you_mean, nearest, path_of
from vlgate.metrics.shapes import SHAPES
from vlgate.sources.reading.records import Record, lined_records
from vlgate.types import Ask, Case, Compare, Task, images_of, text_of

CLAIMS: Mapping[str, str] = MappingProxyType(
    {
        "wrong": "the label is wrong: corrected if the line has truths, otherwise left out",
        "swapped": "what is called true is false, and the other way round: exchanged",
        "ambiguous": "people disagree, or both readings hold: left out",
        "broken": "the image or a text is damaged, or another one: left out",
    }
)  # what a line may claim of a case, and what becomes of the case

KNOWN = Path(__file__).resolve().parent / "disputes.jsonl"
"""The label errors of benchmarks that others have reported, each with its source; ``--disputes known`` names it."""

REMEDY = 'write a line such as {"task": "valse/existence", "case": "...", "claim": "wrong", "evidence": "..."}'
_SHOWN = 3  # the most cases that a message names
_NEEDED = ("task", "claim", "evidence")
_FIELDS = (*_NEEDED, "case", "cases", "source", "truths", "fingerprint")
_OPPOSITE = MappingProxyType({"yes": "no", "no": "yes"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    # ``source`` says who found it. ``truths`` are the right ones, None if they are not given. ``fingerprint`` is that
    # of all cases of the line. Texts are empty if the line lacks them.

    task: str
    case: str
    claim: str
    source: str
    truths: tuple[bool | str, ...] | None
    record: Record
    fingerprint: str = ""

    @property
    def corrects(self) -> bool:
        return self.claim == "swapped" or self.truths is not None


def place_of(named: str | Path, folder: Path) -> Path:
    return KNOWN if str(named) == "known" else path_of(named, folder, "--disputes").resolve()


def read_disputes(files: Iterable[Path]) -> tuple[Dispute, ...]:
    return tuple(dispute for file in files for record in lined_records(file, REMEDY) for dispute in _disputes(record))


def fingerprint(cases: Iterable[Case]) -> str:
    found = blake2b(digest_size=8)
    for case in cases:
        for request in case.requests:
            keys = [image.key for image in images_of(request)] or [""]
            choices = request.choices if isinstance(request, Ask | Compare) else ()
            found.update("\0".join((*keys, text_of(request), *choices, "\n")).encode())
    return found.hexdigest()


def applied(
    tasks: Sequence[Task], disputes: Sequence[Dispute], known: Iterable[str]
) -> tuple[tuple[Task, ...], tuple[str, ...]]:
    # Several disputes may be about a case if they do the same to it. The notes are on disputes about tasks that are not
    # among these, or of ``KNOWN`` about cases that are not in the data.
    names = sorted(known)
    here = {task.id for task in tasks}
    disputes, others = _fitting(tasks, disputes)
    by_task: dict[str, dict[str, Dispute]] = {}
    for dispute in disputes:
        if dispute.task not in here and dispute.task not in names:
            raise dispute.record.error(f"no task is named {dispute.task!r}", nearest(dispute.task, names))
        first = by_task.setdefault(dispute.task, {}).setdefault(dispute.case, dispute)
        if (first.corrects, first.truths) != (dispute.corrects, dispute.truths):
            other = f"{first.record.file}, record {first.record.id}"
            raise dispute.record.error(
                f"{dispute.claim!r} of {dispute.case!r} is at odds with {first.claim!r} in {other}", "keep one"
            )
    found = tuple(_applied(task, by_task[task.id]) if task.id in by_task else task for task in tasks)
    own = [dispute for dispute in disputes if dispute.record.file != KNOWN]
    beyond = sum(one.task not in here for one in own)
    notes = [f"{beyond:,} of {len(own):,} disputes are about tasks that are not asked"] if beyond else []
    return found, (*notes, *others)


def reported(tasks: Sequence[Task]) -> tuple[str, ...]:
    ids, text = {task.id for task in tasks}, KNOWN.read_text(encoding="utf-8")
    if not any(task in text for task in ids):  # parsing takes 30 times as long
        return ()
    disputes, _ = _fitting(tasks, read_disputes([KNOWN]))
    by_task: dict[str, Counter[str]] = {}
    for dispute in disputes:
        if dispute.task in ids:
            by_task.setdefault(dispute.task, Counter())[dispute.claim] += 1
    notes = []
    for task, counts in sorted(by_task.items()):
        claims = ", ".join(f"{number:,} {claim}" for claim, number in counts.items())
        notes.append(f"{task}: others report labels of its cases ({claims}); --disputes known corrects or drops them")
    return tuple(notes)


def _fitting(tasks: Sequence[Task], disputes: Sequence[Dispute]) -> tuple[list[Dispute], list[str]]:
    wanted = {dispute.task for dispute in disputes}
    cases = {task.id: {case.id: case for case in task.cases} for task in tasks if task.id in wanted}
    lines: dict[tuple[Path, str], list[Dispute]] = {}
    for dispute in disputes:
        lines.setdefault((dispute.record.file, dispute.record.id), []).append(dispute)
    kept, notes = [], []
    for line in lines.values():
        first, there = line[0], cases.get(line[0].task)
        # Whether the cases of the line are there, and ask what they asked when the line was written.
        same = there is None or all(dispute.case in there for dispute in line)
        if there is not None and same and first.fingerprint:
            same = fingerprint(there[dispute.case] for dispute in line) == first.fingerprint
        if same or (first.record.file != KNOWN and not first.fingerprint):
            kept += line
        elif first.record.file != KNOWN:
            problem = f"{first.task} asks something else in these cases: the fingerprint differs"
            raise first.record.error(problem, "write it anew")
        else:
            named = first.case if len(line) == 1 else f"({len(line):,} cases)"
            why = "the file asks something else there" if first.fingerprint else "the data have no such case"
            notes.append(f"the known dispute about {first.task} {named} is not used: {why}")
    return kept, notes


def disputed(left_out: Mapping[str, int]) -> int:
    return sum(left_out.get(_reason(claim), 0) for claim in CLAIMS)


def _reason(claim: str) -> str:
    return f"left out as disputed ({claim})"


def _disputes(record: Record) -> Iterator[Dispute]:
    for name in record.fields:
        if name not in _FIELDS:
            raise record.error(f"unknown field {name!r}", nearest(name, _FIELDS))
    task, claim, _ = (record.text(name) for name in _NEEDED)
    if claim not in CLAIMS:
        raise record.error(f"claim={claim!r} is unknown", nearest(claim, tuple(CLAIMS)))
    if "case" in record.fields and "cases" in record.fields:
        raise record.error("has both 'case' and 'cases'", "keep one")
    cases = record.texts("cases") if "cases" in record.fields else (record.text("case"),)
    truths: Any = record.fields.get("truths")
    if truths is not None and claim != "wrong":
        raise record.error(f"has truths although it claims {claim!r}", 'write "claim": "wrong"')
    if truths is not None and not (isinstance(truths, list) and all(isinstance(truth, bool | str) for truth in truths)):
        remedy = "write one truth per request: true or false for a text, the right answer for a question"
        raise record.error(f"truths={truths!r} is not a list of truths", remedy)
    for case in cases:
        yield Dispute(
            task=task,
            case=case,
            claim=claim,
            source=record.text("source") if "source" in record.fields else "",
            truths=None if truths is None else tuple(truths),
            record=record,
            fingerprint=record.text("fingerprint") if "fingerprint" in record.fields else "",
        )


def _nearest_cases(named: str, ids: Sequence[str]) -> str:
    if len(ids) <= _SHOWN:
        return nearest(named, ids)
    others = get_close_matches(named, ids, n=_SHOWN)[1:]
    near = f" (of its {len(ids):,} cases, {', '.join(map(repr, others))} are near, too)" if others else ""
    hint = did_you_mean(named, ids)
    return hint + near if hint else f"none of its {len(ids):,} cases is near it, such as {ids[0]!r}"


def _applied(task: Task, disputes: Mapping[str, Dispute]) -> Task:
    ids = {case.id for case in task.cases}
    for dispute in disputes.values():
        if dispute.case not in ids:
            raise dispute.record.error(
                f"{task.id} has no case {dispute.case!r}", _nearest_cases(dispute.case, sorted(ids))
            )
    left_out: Counter[str] = Counter()
    cases, corrected = [], 0
    for case in task.cases:
        claimed = disputes.get(case.id)
        if claimed is None:
            cases.append(case)
        elif claimed.corrects:
            cases.append(_corrected(case, task, claimed))
            corrected += 1
        else:
            left_out[_reason(claimed.claim)] += 1
    return replace(task, cases=tuple(cases), left_out={**task.left_out, **left_out}, corrected=corrected)


def _corrected(case: Case, task: Task, dispute: Dispute) -> Case:
    asked = [request for request in case.requests if isinstance(request, Ask)]
    if asked:
        return replace(case, truths=_answers(case, asked, task, dispute))
    opposite = tuple(not truth for truth in case.truths)
    if task.shape == "single" and dispute.truths in (None, opposite):
        return replace(case, truths=opposite)
    if not SHAPES[task.shape].exchanged:
        problem = f"{dispute.case!r} cannot be corrected, because its shape is {task.shape}"
        raise dispute.record.error(problem, "claim that it is wrong, without truths, or ambiguous")
    if dispute.truths not in (None, opposite):
        problem = f"truths={list(dispute.truths or ())!r} do not fit a case of the shape {task.shape}"
        raise dispute.record.error(problem, f"write {list(opposite)!r}, or claim that it is ambiguous")
    return replace(case, requests=tuple(case.requests[place] for place in SHAPES[task.shape].exchanged))


def _answers(case: Case, asked: Sequence[Ask], task: Task, dispute: Dispute) -> tuple[bool | str, ...]:
    given, of_pair = dispute.truths, task.shape == "questions"
    if given is None:
        both = all(set(case.truths) <= set(request.choices) for request in asked)
        opposite = tuple(_OPPOSITE.get(str(truth), "") for truth in case.truths)
        given = case.truths[::-1] if of_pair and task.capability == "directional" and both else opposite
    fits = len(given) == len(case.truths) and all(isinstance(answer, str) and answer for answer in given)
    if not fits or (of_pair and (len(set(given)) == 1) != (task.capability == "invariance")):
        relation = "equal" if task.capability == "invariance" else "different"
        remedy = f'write "claim": "wrong" and "truths" with {relation} answers to its {len(case.truths)} questions'
        raise dispute.record.error(
            f"gives no answers that {dispute.case!r} can have", f"{remedy}, or call it ambiguous"
        )
    return given
