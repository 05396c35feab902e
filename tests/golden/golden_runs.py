"""What the golden runs are: groups of commands, each in an empty folder that has the files of ``inputs`` and the data.

A command's output and exit status are a file of the folder, LABEL.out. No command names a module or a file of the code.
"""

from dataclasses import dataclass
from pathlib import Path

INPUTS = Path(__file__).parent / "inputs"
SHARED = Path(__file__).parents[3] / "shared/data"
_AFTER = "--suite=scenes/foil-it,scenes/order-inv,scenes/word-swap,scenes/active-passive,scenes/object-size --limit=30"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Commands that run one after the other in one folder, by label; ``pytest`` and ``vlgate`` are this Python's.

    Real data are in ``data``. A group that takes a neural network has scores that depend on the processor.
    """

    commands: dict[str, str]
    real: bool = False
    neural: bool = False
    quick: bool = False
    """Whether the normal tests run it."""
    varying: tuple[str, ...] = ()
    """Files that no two runs share."""


def _make(kind: str, source: str, more: str = "") -> tuple[str, str]:
    return kind, f"vlgate make {kind} --from {source} --out sets/{kind} --seed 0 --limit 60 --cache parses {more}"


_ANSWERS = "answers.jsonl"
_CAPTIONS = "data/captions/coco-mini/captions_train2017.json"
_GRAPHS = "data/scene-graphs/vg_scene_graphs_1-10.json data/scene-graphs/vg_scene_graphs_100.json --faults leave-out"
_DIALOGS = "data/visdial/visdialconv/visdial_1.0_val_crowdsourced.json"

GROUPS = {
    "scenes": Group(
        quick=True,
        commands={
            "run": "pytest -q --model=bag-of-words --results=run --junitxml=junit.xml --limit=30",
            "again": "pytest -q --model=bag-of-words --results=again --limit=40 --alluredir=allure "
            "--suite=scenes/foil-it,scenes/order-inv,scenes/word-swap,scenes/coordination --items=batch",
            "quick": "pytest -q --model=reader --results=quick --quick --ties=half --seed=1 "
            "--suite=scenes/*-inv,scenes/c*",
        },
    ),
    "parts": Group(
        varying=("workers/environment.json",),  # what a worker repeats depends on what the other has asked
        commands={
            "whole": f"pytest -q --model=bag-of-words --results=whole {_AFTER}",
            "workers": f"pytest -q -n 2 --model=bag-of-words --results=workers {_AFTER}",
            "part-1": f"pytest -q --model=bag-of-words --shard=1/2 --results=part-1 {_AFTER}",
            "part-2": f"pytest -q --model=bag-of-words --shard=2/2 --results=part-2 {_AFTER}",
            "merge": "vlgate merge part-1 part-2 --results=merged",
            "merge-one": "vlgate merge part-1 --results=one",
        },
    ),
    "after": Group(
        commands={
            "old": f"pytest -q --model=bag-of-words --results=old {_AFTER}",
            "bless": "vlgate bless old --to baseline --why reviewed --must-hold=hold.jsonl",
            "new": f"pytest -q --model=defect:colour-blind --results=new --baseline=old {_AFTER}",
            "judge": "vlgate judge new --thresholds=stricter.toml --baseline=old --results=judged",
            "judge-json": "vlgate judge old --thresholds=stricter.toml --json",
            "compare": "vlgate compare old new",
            "compare-json": "vlgate compare old new --json",
            "misses": "vlgate misses old --limit 5",
            "misses-json": "vlgate misses new --all --json",
            "show": "vlgate show old scenes/order-inv:conjunction/00007 --out shown",
            "show-pair": "vlgate show old scenes/foil-it:003 --out shown-pair",
            "report": "vlgate report new --earlier old",
            "export-csv": "vlgate export old --format csv --to cases.csv",
            "export-jsonl": "vlgate export old --format jsonl --to cases.jsonl",
            "export-hf": "vlgate export old --format hf-eval-results --to hf.yaml --source https://example.org "
            "--dataset scenes=org/scenes",
            "export-eee": "vlgate export old --format every-eval-ever --to eee",
            "export-lm-eval": "vlgate export old --format lm-eval --to lm-eval",
            "shortcuts": "vlgate shortcuts old --out shortcuts --save",
            "init": "vlgate init --from old",
        },
    ),
    "data": Group(
        real=True,
        commands={
            "random": "pytest -q --model=random --data=data --data=data/more --limit=25 --results=random",
            "replay": "pytest -q --model=replay:random/predictions.parquet --data=data --data=data/more --limit=25 "
            "--results=replay --thresholds=stricter.toml --disputes=known",
            "import": "vlgate import data/recorded-outputs/sugarcrepe-gpt4v/negative-first/gpt4v-add_obj.json "
            "data/recorded-outputs/sugarcrepe-gpt4v/negative-first/gpt4v-swap_obj.json --data=data --out=gpt4v.jsonl",
            "gpt4v": "pytest -q --model=replay:gpt4v.jsonl --data=data --suite=sugarcrepe/add_obj,sugarcrepe/swap_obj "
            "--results=gpt4v",
            "misses": "vlgate misses replay --limit 3",
            "check": "vlgate check --data data --thresholds=stricter.toml",
            "tasks": "vlgate tasks --data data --data data/more --json",
        },
    ),
    "make": Group(
        real=True,
        quick=True,
        commands=dict(
            (
                _make("existence", _ANSWERS),
                _make("counting-balanced", _ANSWERS),
                _make("counting-small", _ANSWERS),
                _make("counting-adversarial", _ANSWERS),
                _make("plurality", _CAPTIONS),
                _make("counting-captions", _CAPTIONS),
                _make("relations", _CAPTIONS),
                _make("foil-it", _CAPTIONS),
                _make("word-swap", _GRAPHS),
                _make("coreference", _DIALOGS),
                _make("active-passive", _GRAPHS),
                _make("coordination", _GRAPHS),
                _make("relative-clause", _GRAPHS),
                _make("object", _GRAPHS),
                _make("attribute", _GRAPHS),
                _make("relation", _GRAPHS),
                ("questions", f"vlgate make questions --from {_GRAPHS} --out sets/questions.jsonl --limit 60"),
                ("list", "vlgate make --list"),
            )
        ),
    ),
}
