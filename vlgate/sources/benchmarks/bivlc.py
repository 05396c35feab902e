"""BiVLC: SugarCrepe's captions and negatives, and an image for each negative, made by a generator of images.

Miranda et al. 2024, "BiVLC: Extending Vision-Language Compositionality Evaluation with Text-to-Image Retrieval". The
release is the data set ``imirandam/BiVLC`` of the Hugging Face hub (https://github.com/IMirandaM/BiVLC): Parquet files
with the images inside. Put them into ``bivlc/data`` or ``bivlc`` of a data folder, or let the protocol ``bivlc_hub``
fetch them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from vlgate.sources.reading.records import Record
from vlgate.sources.reading.source import QUAD_TRUTHS, ReadOptions, quad_requests
from vlgate.sources.reading.tables import Row, by_kind, release_files, table_rows
from vlgate.types import Case, Shape, Task

KINDS = ("replace", "swap", "add")
"""What was done to the caption; each is a task. Which of its parts, ``subtype``, is a slice."""

SHAPES: Mapping[str, Shape] = MappingProxyType({f"bivlc/{kind}": "quad" for kind in KINDS})
"""The shape of each task, by id."""

HUB = "imirandam/BiVLC"


def read(options: ReadOptions) -> Iterator[Task]:
    """Yield the wanted tasks, if a data folder holds the release.

    A case is (image, caption), (image, negative caption), (negative image, caption), (negative image, negative
    caption). Its id is the number of the row, from 0, over all files; its images' keys are ``bivlc_<id>_<0 or 1>``.
    The paper's I2T, T2I and group scores are ``text``, ``image`` and ``group``. The second image is always the
    generated one, which a note says.
    """
    wanted = [kind for kind in KINDS if options.wanted(f"bivlc/{kind}")]
    files = release_files(options, "bivlc", HUB) if wanted else []
    rows = table_rows(files, ("image", "negative_image"), f"take the Parquet files of {HUB}")
    for kind, cases in by_kind(_case, rows, _kind, wanted).items():
        if cases:
            note = "the second image of each case was made by a generator, so a model that tells such images is helped"
            yield Task(id=f"bivlc/{kind}", capability="compositional", shape="quad", cases=cases, note=note)


def _kind(record: Record) -> str:
    kind = record.text("type")
    if kind not in KINDS:
        record.reject("type", " or ".join(map(repr, KINDS)))
    return kind


def _case(row: Row) -> Case:
    name = str(row.number)
    images = row.image(f"bivlc_{name}_0", "image"), row.image(f"bivlc_{name}_1", "negative_image")
    captions = row.record.text("caption"), row.record.text("negative_caption")
    return Case(
        id=name,
        requests=quad_requests(images, captions),
        truths=QUAD_TRUTHS,
        tags={"subtype": row.record.text("subtype")},
        origin=f"{row.record.file.name}, record {row.record.id}",
    )
