"""Disputes: a file of cases whose labels are wrong or open to doubt, which a run corrects or leaves out, and counts.

A file holds JSON lines with ``task``, ``case``, ``claim``, ``evidence`` and optionally ``source`` and ``truths``:

    {"task": "valse/existence", "case": "existence_visual7w_2371044", "claim": "swapped", "evidence": "a crowd"}

``wrong``, ``ambiguous`` and ``broken`` leave the case out of all metrics. ``swapped`` exchanges what is true and what
is false, and ``truths`` (one entry per request, with ``wrong``) says what is right instead. A line may name many
``cases`` instead of a ``case``, with the ``fingerprint`` of what they ask. ``KNOWN`` is such a file, which comes with
vlgate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vlgate.errors import DataError, nearest
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
)
"""What a line may claim of a case, and what becomes of the case."""

KNOWN = Path(__file__).resolve().parent / "disputes.jsonl"
"""The label errors of benchmarks that others have reported, each with its source; ``--disputes known`` names it."""

REMEDY = 'write a line such as {"task": "valse/existence", "case": "...", "claim": "wrong", "evidence": "..."}'
_SHOWN = 3  # the most cases that a message names
_NEEDED = ("task", "claim", "evidence")
_FIELDS = (*_NEEDED, "case", "cases", "source", "truths", "fingerprint")
_OPPOSITE = MappingProxyType({"yes": "no", "no": "yes"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """A line of a file: the case, what is claimed of it, and why.

    ``source`` says who found it; empty if the line does not. ``truths`` are the right ones, None if they are not given.
    ``file`` and ``line`` are where it stands. ``fingerprint`` is that of all cases of the line; empty if it has none.
    """

    task: str
    case: str
    claim: str
    evidence: str
    source: str
    truths: tuple[bool | str, ...] | None
    file: Path
    line: str
    fingerprint: str = ""

    @property
    def corrects(self) -> bool:
        """Whether the case stays, with other truths."""
        return self.claim == "swapped" or self.truths is not None

    def wrong(self, problem: str, remedy: str) -> DataError:
        """Return an error that names the file and the line."""
        return DataError(self.file, self.line, problem, remedy)


def place_of(named: str | Path, folder: Path) -> Path:
    """Return the file that ``--disputes`` names, relative to a folder; ``known`` names ``KNOWN``."""
    return KNOWN if str(named) == "known" else (folder / Path(named).expanduser()).resolve()


def read_disputes(files: Iterable[Path]) -> tuple[Dispute, ...]:
    """Read files of disputes; empty lines are skipped."""
    return tuple(one for file in files for record in lined_records(file, REMEDY) for one in _disputes(record))


def fingerprint(cases: Iterable[Case]) -> str:
    """Return 16 digits that tell whether cases ask the same as others, in the same order: images, texts and choices.

    The truths are not in them.
    """
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
    """Correct or leave out the disputed cases of some tasks.

    ``known`` holds the ids of all tasks that there are. Several disputes may be about a case if they do the same to it.

    Returns: the tasks, which count what was left out by claim, and what was corrected; and notes on the disputes that
        are about tasks that are not among these, or of ``KNOWN`` about cases that are not in the data.
    """
    names = sorted(known)
    here = {task.id for task in tasks}
    disputes, others = _fitting(tasks, disputes)
    by_task: dict[str, dict[str, Dispute]] = {}
    for one in disputes:
        if one.task not in here and one.task not in names:
            raise one.wrong(f"no task is named {one.task!r}", nearest(one.task, names))
        first = by_task.setdefault(one.task, {}).setdefault(one.case, one)
        if (first.corrects, first.truths) != (one.corrects, one.truths):
            other = f"{first.file}, record {first.line}"
            raise one.wrong(f"{one.claim!r} of {one.case!r} is at odds with {first.claim!r} in {other}", "keep one")
    found = tuple(_applied(task, by_task[task.id]) if task.id in by_task else task for task in tasks)
    own = [one for one in disputes if one.file != KNOWN]
    beyond = sum(one.task not in here for one in own)
    notes = [f"{beyond:,} of {len(own):,} disputes are about tasks that are not asked"] if beyond else []
    return found, (*notes, *others)


def reported(tasks: Sequence[Task]) -> tuple[str, ...]:
    """Return a note for each task with labels that ``KNOWN`` disputes, which says how many, by claim."""
    found, _ = _fitting(tasks, read_disputes([KNOWN]))
    counts = Counter((one.task, one.claim) for one in found if one.task in {task.id for task in tasks})
    by_task: dict[str, list[str]] = {}
    for (task, claim), number in counts.items():
        by_task.setdefault(task, []).append(f"{number:,} {claim}")
    return tuple(
        f"{task}: others report labels of its cases ({', '.join(said)}); --disputes known corrects or drops them"
        for task, said in sorted(by_task.items())
    )


def _fitting(tasks: Sequence[Task], disputes: Sequence[Dispute]) -> tuple[list[Dispute], list[str]]:
    """The disputes without the lines of ``KNOWN`` about data that these tasks lack, and a note on each of those."""
    wanted = {one.task for one in disputes}
    cases = {task.id: {case.id: case for case in task.cases} for task in tasks if task.id in wanted}
    lines: dict[tuple[Path, str], list[Dispute]] = {}
    for one in disputes:
        lines.setdefault((one.file, one.line), []).append(one)
    found, notes = [], []
    for line in lines.values():
        first, there = line[0], cases.get(line[0].task)
        same = there is None or _same(line, there)
        if same or (first.file != KNOWN and not first.fingerprint):
            found += line
        elif first.file != KNOWN:
            raise first.wrong(
                f"{first.task} asks something else in these cases: the fingerprint differs", "write it anew"
            )
        else:
            named = first.case if len(line) == 1 else f"({len(line):,} cases)"
            why = "the file asks something else there" if first.fingerprint else "the data have no such case"
            notes.append(f"the known dispute about {first.task} {named} is not used: {why}")
    return found, notes


def _same(line: Sequence[Dispute], there: Mapping[str, Case]) -> bool:
    """Whether the cases of a line are there, and ask what they asked when the line was written."""
    if any(one.case not in there for one in line):
        return False
    return not line[0].fingerprint or fingerprint(there[one.case] for one in line) == line[0].fingerprint


def disputed(left_out: Mapping[str, int]) -> int:
    """Return how many cases of a task were left out because they are disputed, from its ``left_out``."""
    return sum(left_out.get(_reason(claim), 0) for claim in CLAIMS)


def _reason(claim: str) -> str:
    return f"left out as disputed ({claim})"


def _disputes(record: Record) -> Iterator[Dispute]:
    for name in record.fields:
        if name not in _FIELDS:
            raise record.error(f"unknown field {name!r}", nearest(name, _FIELDS))
    task, claim, evidence = (record.text(name) for name in _NEEDED)
    if claim not in CLAIMS:
        raise record.error(f"claim={claim!r} is unknown", nearest(claim, tuple(CLAIMS)))
    if "case" in record.fields and "cases" in record.fields:
        raise record.error("has both 'case' and 'cases'", "keep one")
    cases = record.texts("cases") if "cases" in record.fields else (record.text("case"),)
    truths = _truths(record, claim)
    for case in cases:
        yield Dispute(
            task=task,
            case=case,
            claim=claim,
            evidence=evidence,
            source=record.text("source") if "source" in record.fields else "",
            truths=truths,
            file=record.file,
            line=record.id,
            fingerprint=record.text("fingerprint") if "fingerprint" in record.fields else "",
        )


def _truths(record: Record, claim: str) -> tuple[bool | str, ...] | None:
    given: Any = record.fields.get("truths")
    if given is None:
        return None
    if claim != "wrong":
        raise record.error(f"has truths although it claims {claim!r}", 'write "claim": "wrong"')
    if not isinstance(given, list) or not all(isinstance(one, bool | str) for one in given):
        remedy = "write one truth per request: true or false for a text, the right answer for a question"
        raise record.error(f"truths={given!r} is not a list of truths", remedy)
    return tuple(given)


def _nearest_cases(named: str, ids: Sequence[str]) -> str:
    if len(ids) <= _SHOWN:
        return nearest(named, ids)
    first, *others = get_close_matches(named, ids, n=_SHOWN) or [""]
    if not first:
        return f"none of its {len(ids):,} cases is near it, such as {ids[0]!r}"
    near = f" (of its {len(ids):,} cases, {', '.join(map(repr, others))} are near, too)" if others else ""
    return f"did you mean {first!r}?{near}"


def _applied(task: Task, disputes: Mapping[str, Dispute]) -> Task:
    ids = {case.id for case in task.cases}
    for one in disputes.values():
        if one.case not in ids:
            raise one.wrong(f"{task.id} has no case {one.case!r}", _nearest_cases(one.case, sorted(ids)))
    left_out: Counter[str] = Counter()
    cases = []
    for case in task.cases:
        dispute = disputes.get(case.id)
        if dispute is None:
            cases.append(case)
        elif dispute.corrects:
            cases.append(_corrected(case, task, dispute))
        else:
            left_out[_reason(dispute.claim)] += 1
    corrected = sum(case.id in disputes for case in cases)
    return replace(task, cases=tuple(cases), left_out={**task.left_out, **left_out}, corrected=corrected)


def _corrected(case: Case, task: Task, dispute: Dispute) -> Case:
    if any(isinstance(request, Ask) for request in case.requests):
        return replace(case, truths=_answers(case, task, dispute))
    opposite = tuple(not truth for truth in case.truths)
    if task.shape == "single" and dispute.truths in (None, opposite):
        return replace(case, truths=opposite)
    if not SHAPES[task.shape].exchanged:
        said = f"cannot be corrected, because its shape is {task.shape}"
        raise dispute.wrong(f"{dispute.case!r} {said}", "claim that it is wrong, without truths, or ambiguous")
    if dispute.truths not in (None, opposite):
        said = f"truths={list(dispute.truths or ())!r} do not fit a case of the shape {task.shape}"
        raise dispute.wrong(said, f"write {list(opposite)!r}, or claim that it is ambiguous")
    return replace(case, requests=tuple(case.requests[place] for place in SHAPES[task.shape].exchanged))


def _offered_both(case: Case) -> bool:
    asked = [request.choices for request in case.requests if isinstance(request, Ask)]
    return all(set(case.truths) <= set(choices) for choices in asked)


def _answers(case: Case, task: Task, dispute: Dispute) -> tuple[bool | str, ...]:
    given = dispute.truths
    if given is None and task.shape == "questions" and task.capability == "directional" and _offered_both(case):
        given = case.truths[::-1]
    elif given is None:
        given = tuple(_OPPOSITE.get(str(truth), "") for truth in case.truths)
    fits = len(given) == len(case.truths) and all(isinstance(one, str) and one for one in given)
    if not fits or (task.shape == "questions" and (len(set(given)) == 1) != (task.capability == "invariance")):
        relation = "equal" if task.capability == "invariance" else "different"
        remedy = f'write "claim": "wrong" and "truths" with {relation} answers to its {len(case.truths)} questions'
        raise dispute.wrong(f"gives no answers that {dispute.case!r} can have", f"{remedy}, or call it ambiguous")
    return given
