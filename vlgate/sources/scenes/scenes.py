"""The tasks of the drawn scenes: the shipped ones, and those made with another seed or number."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from vlgate import fixtures
from vlgate.errors import DataError
from vlgate.fixtures.scenes.draw import Drawing
from vlgate.sources.reading.source import ReadOptions, Source, TaskRow, shapes_of
from vlgate.sources.scenes import TASK_SHAPES, TASKS
from vlgate.types import Ask, Case, Compare, LazyImage, Match, Read, Request, Task, images_of

if TYPE_CHECKING:
    from vlgate.fixtures.scenes.graph import Graph
    from vlgate.perturb.images.registry import PerturbedLoad

# The tasks of seed 0 are in a zip archive of JSON, with one member for each task, which lists the images and the cases.
# An image is its key, its origin and its scene graph, or a perturbation of another image.

FILE = Path(fixtures.__path__[0]) / "scenes" / "default.zip"
WRITTEN = (1980, 1, 1, 0, 0, 0)  # the earliest time that an archive can hold


def shipped(task_ids: Iterable[str]) -> Iterator[Task]:
    with ZipFile(FILE) as archive:
        there = frozenset(archive.namelist())
        for task_id in task_ids:
            if _member(task_id) not in there:
                raise DataError(FILE, _member(task_id), "it is missing", "run scripts/write_scenes.py")
            content = json.loads(archive.read(_member(task_id)))
            images = _images(content["images"])
            cases = tuple(
                Case(
                    id=row["id"],
                    requests=tuple(_request(images[number], *asked) for number, *asked in row["requests"]),
                    truths=tuple(row["truths"]),
                    tags=row["tags"],
                    file=row["origin"],
                )
                for row in content["cases"]
            )
            own = {name: content[name] for name in ("capability", "shape", "left_out", "note")}
            yield Task(id=task_id, cases=cases, **own)


def shipped_version() -> str:
    members = read_contents()
    content = b"".join(name.encode() + b"\0" + members[name] + b"\0" for name in sorted(members))
    return sha256(content).hexdigest()[:12]


def read_contents() -> dict[str, bytes]:
    with ZipFile(FILE) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def contents(tasks: Iterable[Task]) -> dict[str, bytes]:
    return {_member(task.id): _packed(task) for task in tasks}


def write(members: Mapping[str, bytes], file: Path = FILE) -> None:
    with ZipFile(file, "w", ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in members.items():
            archive.writestr(ZipInfo(name, WRITTEN), content, ZIP_DEFLATED)


def _member(task_id: str) -> str:
    return f"{task_id.removeprefix('scenes/')}.json"


def _packed(task: Task) -> bytes:
    requests = [_asked(request) for case in task.cases for request in case.requests]
    place: dict[LazyImage, int] = {}
    images: list[dict[str, Any]] = []
    for image in (request.image for request in requests):
        for shown in (image,) if isinstance(image.load, Drawing) else (_perturbation(image).image, image):
            if shown not in place:
                place[shown] = len(images)
                images.append(_packed_image(shown, place))
    content = {
        "capability": task.capability,
        "shape": task.shape,
        "left_out": dict(task.left_out),
        "note": task.note,
        "images": images,
        "cases": [
            {
                "id": case.id,
                "requests": [
                    [place[request.image], request.text]
                    if isinstance(request, Match)
                    else [place[request.image], request.question, request.choices]
                    for request in map(_asked, case.requests)
                ],
                "truths": case.truths,
                "tags": dict(case.tags),
                "origin": case.origin,
            }
            for case in task.cases
        ],
    }
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def _asked(request: Request) -> Ask | Match:
    if isinstance(request, Read | Compare):
        raise TypeError(f"{request!r} has not one image; the file holds questions and texts about images")
    return request


def _perturbation(image: LazyImage) -> PerturbedLoad:
    from vlgate.perturb.images.registry import PerturbedLoad
    from vlgate.sources.graphs.question_cases import FittedLoad

    inner = image.load.made.load if isinstance(image.load, FittedLoad) else None
    if not isinstance(inner, PerturbedLoad) or not isinstance(inner.image.load, Drawing):
        raise TypeError(f"image {image.key!r} is neither drawn nor perturbed once; the file holds no others")
    return inner


def _packed_image(image: LazyImage, place: Mapping[LazyImage, int]) -> dict[str, Any]:
    if isinstance(image.load, Drawing):
        return {"key": image.key, "where": image.where, "graph": image.load.graph}
    load = _perturbation(image)
    boxes = [[box.x, box.y, box.w, box.h] for box in load.boxes]
    return {"of": place[load.image], "perturbation": load.name, "boxes": boxes}


def _images(rows: Sequence[Mapping[str, Any]]) -> list[LazyImage]:
    images: list[LazyImage] = []
    for row in rows:
        if "graph" in row:
            images.append(LazyImage(key=row["key"], where=row["where"], load=Drawing(graph=row["graph"])))
            continue
        from vlgate.perturb.scene_graph import Box
        from vlgate.sources.graphs.question_cases import fitted

        image, graph = images[row["of"]], rows[row["of"]]["graph"]
        boxes = [Box(x=x, y=y, w=w, h=h) for x, y, w, h in row["boxes"]]
        images.append(fitted(image, row["perturbation"], boxes, (graph["width"], graph["height"]), image.where))
    return images


def _request(image: LazyImage, text: str, choices: Sequence[str] | None = None) -> Ask | Match:
    if choices is None:
        return Match(image=image, text=text)
    return Ask(image=image, question=text, choices=tuple(choices))


SHIPPED_SEED = 0


def read(options: ReadOptions) -> Iterator[Task]:
    # Those of seed 0 are read, not made, so that their figures can be compared between releases.
    wanted = [task_id for task_id in TASKS if options.wanted(task_id)]
    if options.seed == SHIPPED_SEED:
        yield from shipped(wanted)
    else:  # the import takes 0.3 s, because it loads the looks of all things
        from vlgate.sources.scenes.made import make

        yield from make(wanted, options.seed)


SCENES = Source(read=read, shapes=TASK_SHAPES)


def graphs(task: Task) -> dict[str, Graph]:
    requests = (request for case in task.cases for request in case.requests)
    images = (image for request in requests for image in images_of(request))
    return {image.key: image.load.graph for image in images if isinstance(image.load, Drawing)}


# Counterfactual images and their normal twins, drawn for any seed; asked only if ``--suite`` names them.

_QUESTIONS = TaskRow(id="counterfactual/questions", shape="twin_questions", capability="directional")
_CAPTIONS = TaskRow(id="counterfactual/captions", shape="twin_captions", capability="foil")


def _counterfactual(options: ReadOptions) -> Iterator[Task]:
    if not options.wanted(_QUESTIONS.id) and not options.wanted(_CAPTIONS.id):
        return
    from vlgate.fixtures.scenes import twins  # it loads the looks of all things

    for row, cases in ((_QUESTIONS, twins.questions), (_CAPTIONS, twins.captions)):
        if options.wanted(row.id):
            yield row.task(cases(options.seed))


COUNTERFACTUAL = Source(read=_counterfactual, shapes=shapes_of([_QUESTIONS, _CAPTIONS]))
