"""Categories of objects with their supercategories and names; those of COCO (Lin et al. 2014) come with the package."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from vlgate.perturb.ontology.tables import rows_in

_FILE = Path(__file__).with_name("coco_objects.tsv")


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectClass:
    category: str
    supercategory: str
    word: str  # what a foil says for it; empty if it has no singular or no plural
    names: frozenset[str]  # all its names, in the singular
    beside: frozenset[str] = field(default_factory=frozenset)  # categories that are often in the same image unmentioned
    after: frozenset[str] = field(default_factory=frozenset)  # verbs and prepositions that some siblings do not follow


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectNames:
    by_name: Mapping[str, ObjectClass]
    siblings: Mapping[str, tuple[ObjectClass, ...]]


def object_names(classes: Iterable[ObjectClass]) -> ObjectNames:
    by_name: dict[str, ObjectClass] = {}
    siblings: dict[str, tuple[ObjectClass, ...]] = {}
    for one in classes:
        by_name.update(dict.fromkeys(one.names, one))
        siblings[one.supercategory] = (*siblings.get(one.supercategory, ()), one)
    return ObjectNames(by_name=by_name, siblings=siblings)


@cache
def coco_names() -> ObjectNames:
    columns = ("category", "supercategory", "word", "names", "beside", "after")
    rows = rows_in(_FILE, *columns)
    return object_names(
        ObjectClass(
            category=row["category"],
            supercategory=row["supercategory"],
            word=row["word"],
            names=frozenset({row["category"], row["word"], *row.names("names")} - {""}),
            beside=frozenset(row.names("beside")),
            after=frozenset(row.names("after")),
        )
        for row in rows
    )
