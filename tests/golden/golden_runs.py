"""What the golden runs are: groups of commands, each in an empty folder that has the files of ``inputs`` and the data.

A command's output and exit status are a file of the folder, LABEL.out. No command names a module or a file of the code.
"""

from dataclasses import dataclass
from pathlib import Path

INPUTS = Path(__file__).parent / "inputs"
SHARED = Path(__file__).parents[3] / "shared/data"
_BAGS = "pytest -q --model=bag-of-words"
_FEW = "--suite=scenes/foil-it,scenes/order-inv,scenes/word-swap,scenes/active-passive,scenes/object-size --limit=30"
_REAL = "--data=data --data=data/more --limit=25"  # of 50 tasks: all of their 200,000 cases take ten minutes


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Commands that run one after the other in one folder, by label; ``pytest`` and ``vlgate`` are this Python's."""

    commands: dict[str, str]
    real: bool = False
    """Whether it needs the real data, which are in ``data``."""
    wordnet: bool = False
    neural: bool = False
    """Whether scores are sums of float32, which depend on the processor."""
    quick: bool = False
    """Whether the normal tests run it."""
    varying: tuple[str, ...] = ()
    """Files that no two runs share."""


def _make(kind: str, source: str, more: str = "--cache parses") -> tuple[str, str]:
    return kind, f"vlgate make {kind} --from {source} --out sets/{kind} --seed 0 --limit 60 {more}"


_CAPTIONS = "data/captions/coco-mini/captions_train2017.json"
_GRAPHS = "data/scene-graphs/vg_scene_graphs_1-10.json data/scene-graphs/vg_scene_graphs_100.json --faults leave-out"
_DIALOGS = "data/visdial/visdialconv/visdial_1.0_val_crowdsourced.json"

GROUPS = {
    "quick": Group(
        quick=True,
        commands={
            "run": f"{_BAGS} --results=run --junitxml=junit.xml --suite=scenes/f*,scenes/o*-inv,scenes/w* --limit=12",
            "replay": "pytest -q --model=replay:run/predictions.parquet --results=replay --baseline=run "
            "--suite=scenes/foil-it,scenes/order-inv --limit=12",
            "own": "pytest -q --model=random --data=mine --results=own",
            "judge": "vlgate judge run --thresholds=stricter.toml --json",
            "make": "vlgate make existence --from answers.jsonl --out made --cache none",
            "make-graphs": "vlgate make coordination --from people.json --out sets --cache none --limit 5",
        },
    ),
    "scenes": Group(
        commands={
            "run": f"{_BAGS} --results=run --limit=30 --junitxml=junit.xml",
            "again": f"{_BAGS} --results=again --limit=40 --alluredir=allure --items=batch "
            "--suite=scenes/foil-it,scenes/order-inv,scenes/word-swap,scenes/coordination",
            "quick": "pytest -q --model=reader --results=quick --quick --ties=half --seed=1 "
            "--suite=scenes/*-inv,scenes/c*",
            "oracle": "pytest -q --model=oracle --results=oracle --limit=5 --health=off --ties=credit",
            "constant": "pytest -q --model=constant --results=constant --limit=5 --quick",
            "blind": "pytest -q --model=blind --results=blind --limit=5 --suite=scenes/*-dir,scenes/r*",
        },
    ),
    "parts": Group(
        varying=("workers/environment.json",),  # what a worker repeats depends on what the other has asked
        commands={
            "whole": f"{_BAGS} --results=whole {_FEW}",
            "workers": f"{_BAGS} -n 2 --results=workers {_FEW}",
            "part-1": f"{_BAGS} --shard=1/2 --results=part-1 {_FEW}",
            "part-2": f"{_BAGS} --shard=2/2 --results=part-2 {_FEW}",
            "merge": "vlgate merge part-1 part-2 --results=merged",
            "merge-gated": "vlgate merge part-2 part-1 --results=gated --thresholds=stricter.toml --baseline=whole",
            "merge-one": "vlgate merge part-1 --results=one",
        },
    ),
    "after": Group(
        commands={
            "old": f"{_BAGS} --results=old {_FEW}",
            "bless": "vlgate bless old --to baseline --why reviewed --must-hold=hold.jsonl",
            "new": f"pytest -q --model=defect:colour-blind --results=new --baseline=old {_FEW}",
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
            "init-gitlab": "vlgate init --ci gitlab",
        },
    ),
    "studies": Group(
        commands={
            "one": "pytest -q --model=random --results=one --limit=40",
            "two": "pytest -q --model=defect:left-right --results=two --limit=20",
            "winoground": "vlgate analyse winoground one two --out analyses --save",
            "carets": "vlgate analyse carets one two --out analyses --save",
            "bla": "vlgate analyse bla one two --out analyses --save",
            "vl-checklist": "vlgate analyse vl-checklist one two --out analyses --save",
            "valse": "vlgate analyse valse one two --out analyses --save",
            "valse-json": "vlgate analyse valse one --json",
            "report": "vlgate report one",
            "shortcuts": "vlgate shortcuts --suite scenes/c* --out shortcuts",
            "sensitivity": "vlgate sensitivity --limit 5 --out sensitivity",
            "acuity": "vlgate acuity --model=defect:count-blind --faculty=noun,count --limit=300 --out=acuity",
            "acuity-two": "vlgate acuity --model=reader --faculty=noun,blur --limit=300 --out=second --against=acuity",
            "demo": "vlgate demo --sabotage colour-blind --suite scenes/attributes --no-open",
            "demo-list": "vlgate demo --list",
        },
    ),
    "probes": Group(
        commands={
            "controls": f"{_BAGS} --results=run --limit=10 --controls=look,delivery --controls-limit=5 --explain=1 "
            "--suite=scenes/foil-it,scenes/order-inv,scenes/counting-small",
            "shrink": f"{_BAGS} -m shrink --suite=scenes/foil-it,scenes/attributes --limit=8 --results=shrink",
            "keep": "vlgate keep shrink",
            "held": f"{_BAGS} --data=kept --results=held",
            "form": "vlgate votes form --data mine --out form.html",
            "csv": "vlgate votes csv --data mine --out items.csv",
            "votes": "vlgate votes keep --data mine --votes votes.csv --out valid",
        },
    ),
    "neural": Group(
        neural=True,
        commands={
            "lxmert": "pytest -q --model=tiny-lxmert --results=lxmert --cache=cache --limit=6 --controls=look,delivery "
            "--controls-limit=4 --explain=1 --suite=scenes/f*,scenes/order-inv,scenes/word-swap,scenes/active-passive",
            "clip": "pytest -q --model=tiny-clip --results=clip --cache=cache --limit=20 --suite=scenes/f*,scenes/w*",
            "cached": "pytest -q --model=tiny-clip --results=cached --cache=cache --limit=25 --suite=scenes/f*",
            "shrink": "pytest -q --model=tiny-clip -m shrink --results=shrink --limit=10 --shrink-edits=scene "
            "--suite=scenes/foil-it,scenes/depth",
            "keep": "vlgate keep shrink",
            "cache": "vlgate cache --dir=cache --json",
            "cleared": "vlgate cache clear --dir=cache --model=tiny-clip --older-than=30d",
        },
    ),
    "data": Group(
        real=True,
        commands={
            "random": f"pytest -q --model=random {_REAL} --results=random",
            "replay": f"pytest -q --model=replay:random/predictions.parquet {_REAL} --results=replay --baseline=random "
            "--thresholds=stricter.toml",
            "disputed": f"pytest -q --model=replay:random/predictions.parquet {_REAL} --suite=pope/*,sugarcrepe/* "
            "--results=disputed --disputes=known",
            "import": "vlgate import data/recorded-outputs/sugarcrepe-gpt4v/negative-first/gpt4v-swap_obj.json "
            "--data=data --out=gpt4v.jsonl",
            "gpt4v": "pytest -q --model=replay:gpt4v.jsonl --data=data --suite=sugarcrepe/swap_obj --results=gpt4v",
            "misses": "vlgate misses replay --limit 3",
            "check": "vlgate check --data data --thresholds=stricter.toml",
            "tasks": "vlgate tasks --data data --data data/more --json",
        },
    ),
    "make": Group(
        real=True,
        commands=dict(
            (
                _make("existence", "answers.jsonl"),
                _make("counting-balanced", "answers.jsonl"),
                _make("counting-small", "answers.jsonl"),
                _make("counting-adversarial", "answers.jsonl", "--prune-shortcuts"),
                _make("plurality", _CAPTIONS),
                _make("counting-captions", _CAPTIONS),
                _make("relations", _CAPTIONS),
                _make("foil-it", _CAPTIONS),
                _make("word-swap", "swaps.jsonl"),
                _make("coreference", _DIALOGS),
                _make("active-passive", "people.json", "--format release"),
                _make("coordination", "people.json"),
                _make("relative-clause", "people.json", "--format release"),
                _make("object", _GRAPHS),
                _make("attribute", _GRAPHS),
                _make("relation", _GRAPHS),
                ("questions", f"vlgate make questions --from {_GRAPHS} --out sets/questions.jsonl --limit 60"),
                ("carets", "vlgate make questions --from people.json --out sets/carets --limit 60 --format carets"),
                ("list", "vlgate make --list"),
            )
        ),
    ),
    "wordnet": Group(
        real=True,
        wordnet=True,
        commands=dict(
            (
                _make("action-replacement", "frames.jsonl", "--wordnet oewn"),
                _make("actant-swap", "frames.jsonl", "--wordnet oewn"),
                _make("object", "people.json", "--wordnet oewn"),
            )
        ),
    ),
    "words": Group(
        commands={
            "help": "vlgate --help",
            "options": "pytest --help",
            "tasks": "vlgate tasks --controls=look,delivery",
            "tasks-json": "vlgate tasks --json",
            "models": "vlgate models --notes",
            "models-json": "vlgate models --json",
            "init": "vlgate init",
            "check": "vlgate check --data mine",
            "collect": "pytest --collect-only -q --suite=scenes/foil-it,scenes/order-inv --limit=3",
            "no-task": "pytest --suite=scenes/attribute",
            "no-model": "pytest --model=tiny-lxmrt",
            "no-run": "vlgate judge nowhere --thresholds=stricter.toml",
            "defects": "vlgate sensitivity --list",
        }
        | {
            f"{command}-help": f"vlgate {command} --help"
            for command in (
                *("acuity", "analyse", "bless", "cache", "check", "compare", "demo", "export", "features", "import"),
                *("init", "judge", "keep", "make", "merge", "misses", "models", "report", "sensitivity", "shortcuts"),
                *("show", "tasks", "votes"),
            )
        },
    ),
}
