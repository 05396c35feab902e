"""Generated questions beside the released ones of CARETS: shares, plausibility, and what the text alone tells.

``python benchmarks/question_quality.py --seed 3`` prints a table with a column for the release and one for each set of
graphs: those rebuilt from the release's assignments, and those of ``--data DIR`` (default: ``../shared/data`` next to
the checkout). A text-only classifier (words and word pairs, logistic regression, ten folds) answers the yes/no
questions of each half of a test; beside it stands the most frequent answer of the same folds. ``by image`` has all
questions of an image in one fold.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from time import process_time

import numpy as np
from rebuilt_graphs import Record, originals, rebuilt

from vlgate.perturb.ontology import default_ontology
from vlgate.perturb.questions import TESTS, Corpus, Generator, QuestionPair, Test
from vlgate.perturb.scene_graph import SceneGraph
from vlgate.sources.graphs.files import read_graphs
from vlgate.sources.graphs.generated import find_graphs
from vlgate.sources.reading.text_files import collector_paused

ONTOLOGY = default_ontology()
EXISTENCE = frozenset(("object", "object-related", "conjunction", "disjunction"))
Together = frozenset[frozenset[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the table counts of one original question."""

    image: str
    kind: str
    noun: str
    adjectives: int
    answer: str
    relation: str = ""
    false: tuple[str, ...] = ()
    second_absent: bool = False
    choices: int = 0
    category: str = ""
    words: frozenset[str] = frozenset()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared/data")
    parser.add_argument("--size", type=int, default=2000, help="original questions per test (default: 2000)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    folder = options.data / "carets/data/questions"
    partial = rebuilt(folder)
    left_out: Counter[str] = Counter()
    files = find_graphs([options.data])
    real = [graph for file in files for graph in read_graphs(file, faults="leave out", left_out=left_out)]
    columns = {"release": counted(list(released(folder)), partial)}
    columns["release"] |= leaks(release_texts(folder))
    for name, graphs in (("rebuilt", partial), ("real", real)):
        made, rate = generated(graphs, options.size, options.seed, partial=name == "rebuilt")
        pairs = [pair for one in made.values() for pair in one]
        columns[name] = counted(list(map(_asked, pairs)), graphs) | {"pairs per core-second": f"{rate:,.0f}"}
        columns[name] |= leaks(generated_texts(made))
    rows = dict.fromkeys(row for column in columns.values() for row in column)
    print(f"{'':58}" + "".join(f"{name:>22}" for name in columns))
    for row in rows:
        print(f"{row:58}" + "".join(f"{column.get(row, '-'):>22}" for column in columns.values()))


def generated(
    graphs: Sequence[SceneGraph], size: int, seed: int, *, partial: bool
) -> tuple[dict[Test, list[QuestionPair]], float]:
    """The pairs of the six tests, and how many were made per second of this process."""
    start = process_time()
    with collector_paused():  # as a run does while it makes its tasks
        generator = Generator(Corpus(graphs, ONTOLOGY, **({"least_objects": 2} if partial else {})))
        made = {test: list(generator.make(test, size=size, seed=seed).pairs) for test in TESTS}
    return made, sum(map(len, made.values())) / (process_time() - start)


def counted(asked: Sequence[Asked], graphs: Sequence[SceneGraph]) -> dict[str, str]:
    """The rows of the table that count, each with its numbers."""
    shown = {graph.id: {item.name for item in graph.objects.values()} for graph in graphs}
    together = frozenset(frozenset(two) for names in shown.values() for two in combinations(sorted(names), 2))
    false = [(one, name) for one in asked if one.kind in EXISTENCE for name in one.false]
    never = [not any(frozenset((name, seen)) in together for seen in shown.get(one.image, ())) for one, name in false]
    related = [one for one in asked if one.kind == "object-related"]
    denied = [one for one in related if one.answer == "no"]
    first = [one.relation for one in related][:2500]
    every = [one.relation for one in asked if one.relation][:: max(1, sum(bool(one.relation) for one in asked) // 2500)]
    every = every[:2500]
    rows = {
        "false objects never annotated with one of the image": share(never),
        "related 'no' whose second object is absent": share([one.second_absent for one in denied]),
        "distinct relations in related questions": f"{len(set(first))} in {len(first):,}",
        "distinct relations in questions of every kind": f"{len(set(every))} in {len(every):,}",
        "phrases with one attribute": share([one.adjectives == 1 for one in asked if one.kind in EXISTENCE]),
        "phrases with two or more attributes": share([one.adjectives > 1 for one in asked if one.kind in EXISTENCE]),
        "choice questions with 3 choices": share([one.choices == 3 for one in asked if one.choices]),
    }
    for kind in ("object-related", "object-choice-related", "attribute-choice-related", "action-choice-related"):
        sides = [one.relation for one in asked if one.kind == kind]
        rows[f"left/right, {kind}"] = share(["left" in text or "right" in text for text in sides])
    attribute = [one for one in asked if one.kind.startswith("attribute")]
    rows["attribute questions about clothing"] = share([_is(one.noun, "clothing") for one in attribute])
    chosen = Counter(one.category.replace("_", " ") for one in asked if one.kind.startswith("attribute-choice"))
    rows["attribute-choice categories"] = f"{len(chosen)}"
    for name in ("color", "material", "mood", "pattern"):
        rows[f"  {name}"] = f"{chosen[name] / max(1, chosen.total()):.3f}"
    colored = [_is(one.noun, "person") for one in attribute if one.category == "color" or "black" in one.words]
    rows["color questions about persons"] = f"{sum(colored)} of {len(colored):,}"
    words = Counter(one.words for one in asked if len(one.words) == 2)
    rows["antonym pairs of words"] = f"{len(words)} in {words.total():,}"
    rows["  black/white"] = f"{words[frozenset(('black', 'white'))] / max(1, words.total()):.3f}"
    return rows


def share(found: Sequence[bool]) -> str:
    """Return a share with the number that it is of."""
    return f"{sum(found) / len(found):.3f} of {len(found):,}" if found else "-"


def _is(noun: str, kind: str) -> bool:
    return ONTOLOGY.knows(noun) and kind in ONTOLOGY.certain(noun)


def _asked(pair: QuestionPair) -> Asked:
    x, y, other = pair.asked[0].x, pair.asked[0].y, pair.asked[0].x.other
    joined = pair.kind in {"conjunction", "disjunction"}
    nouns = (x, y) if joined else (x, other)
    missing = [noun for noun, identity in zip(nouns, pair.objects, strict=False) if noun and identity is None]
    return Asked(
        image=pair.graph.id,
        kind=pair.kind,
        noun=pair.graph.objects[pair.objects[0]].name if pair.objects[0] else x.noun,
        adjectives=len(x.attributes),
        answer=pair.answers[0],
        relation=x.relation,
        false=tuple(one.noun for one in missing),
        second_absent=not joined and len(pair.objects) > 1 and pair.objects[1] is None,
        choices=len(pair.choices[0]) if "choice" in pair.kind else 0,
        category=pair.asked[0].category,
        words=frozenset((pair.asked[0].attribute, pair.asked[1].attribute)) - {""},
    )


_KINDS = (
    ("object_verification_conjunction", "conjunction"),
    ("object_verification_rel", "object-related"),
    ("object_verification", "object"),
    ("object_choice_rel", "object-choice-related"),
    ("attribute_choice_rel", "attribute-choice-related"),
    ("action_choice_rel", "action-choice-related"),
    ("action_choice", "action-choice"),
    ("attribute_verification", "attribute"),
)


def released(folder: Path) -> Iterator[Asked]:
    """Yield the original questions of the released files."""
    opposite: dict[str, set[str]] = {}
    for file in folder.glob("*_antonym_test.json"):
        for record in records(file):
            opposite.setdefault(record["question_id"].removesuffix("-a"), set()).update(record["assignment"]["attrs1"])
    for name, record in originals(folder):
        asked = record["assignment"]
        places = [place for place in "12" if f"obj{place}" in asked]
        options = asked.get("obj-category-options1") or asked.get("category-options1") or []
        yield Asked(
            image=record["img_id"],
            kind=next(kind for prefix, kind in _KINDS if name.startswith(prefix)),
            noun=asked["obj1"],
            adjectives=len(asked.get("attrs1", ())),
            answer=next(iter(record["label"])),
            relation=asked.get("2rel1", ""),
            false=tuple(asked[f"obj{place}"] for place in places if asked[f"obj{place}_id"] is None),
            second_absent="obj2" in asked and asked["obj2_id"] is None,
            choices=len(options),
            category=asked.get("category1", ""),
            words=frozenset(opposite.get(record["question_id"], ())) if "antonym" in name else frozenset(),
        )


def records(file: Path) -> list[Record]:
    """Return the records of one file."""
    found: list[Record] = json.loads(file.read_text("utf-8"))
    return found


Texts = dict[str, list[tuple[str, str, str]]]


def release_texts(folder: Path) -> Texts:
    """The yes/no questions of the released files by test and half: text, answer and image."""
    texts: Texts = defaultdict(list)
    tests = {"negation": "negation-dir", "symmetric": "order-inv", "template": "rephrase-inv"}
    for file in sorted(folder.glob("object_verification_*_test.json")):
        test = next((test for ending, test in tests.items() if file.stem.endswith(f"{ending}_test")), None)
        for record in records(file) if test else ():
            half = "original" if record["question_id"][-1].isdigit() else "perturbed"
            texts[f"{test}, {half}"].append((record["sent"], next(iter(record["label"])), record["img_id"]))
    return texts


def generated_texts(made: dict[Test, list[QuestionPair]]) -> Texts:
    """The yes/no questions of generated pairs; and of choice questions, which place the right choice has."""
    texts: Texts = defaultdict(list)
    for test, pairs in made.items():
        for pair in pairs:
            for half, name in enumerate(("original", "perturbed")):
                if pair.perturbation not in {"", "blur3"} or (pair.perturbation and half):
                    continue
                choice = "choice" in pair.kind
                answer = str(pair.choices[half].index(pair.answers[half])) if choice else pair.answers[half]
                row = pair.questions[half], answer, pair.graph.id
                if not choice:
                    texts[f"{test}, {name}"].append(row)
                elif len(pair.choices[half]) == 2:
                    texts[f"{test}, {name}, place of 2 choices"].append(row)
    return texts


def leaks(texts: Texts) -> dict[str, str]:
    """How often the text alone tells the answer, beside the most frequent answer."""
    from sklearn.dummy import DummyClassifier
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline

    rows = {}
    for name, questions in sorted(texts.items()):
        said, answers, images = (np.array(column) for column in zip(*questions, strict=True))
        if len(said) < 200:
            rows[f"text alone: {name}"] = f"({len(said)})"
            continue
        model = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LogisticRegression(max_iter=1000))
        for how, folds, groups in (
            ("", StratifiedKFold(10, shuffle=True, random_state=0), None),
            (", by image", GroupKFold(10), images),
        ):
            right, most = (
                np.mean(cross_val_predict(one, said, answers, cv=folds, groups=groups) == answers)
                for one in (model, DummyClassifier())
            )
            rows[f"text alone: {name}{how}"] = f"{right:.3f}/{most:.3f} ({len(said)})"
    return rows


if __name__ == "__main__":
    main()
