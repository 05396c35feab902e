"""What to take for a benchmark whose folder holds files that no reader knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType

TAKE: Mapping[str, str] = MappingProxyType(
    {
        "valse": "data/*.json of https://github.com/Heidelberg-NLP/VALSE",
        "carets": "data/questions/*_test.json of https://github.com/princeton-nlp/CARETS",
        "vl-checklist": "the folders corpus/v1 and data of https://github.com/om-ai-lab/VL-CheckList",
        "winoground": "data/examples.jsonl with images.zip, or the Parquet files, of facebook/winoground",
        "bla": "annotations/*_captions.json of https://github.com/shin-ee-chen/BLA",
        "sugarcrepe": (
            "data/<kind>.json of https://github.com/RAIVNLab/sugar-crepe, or the Parquet files of "
            "HuggingFaceM4/SugarCrepe_<kind> in a folder with the kind in its name, such as "
            "sugarcrepe/SugarCrepe_swap_obj/data"
        ),
        "foil-it": "foilv1.0_test_2017.json or foilv1.0_train_2017.json of https://foilunitn.github.io",
        "aro": (
            "visual_genome_relation.json and visual_genome_attribution.json of "
            "https://github.com/mertyg/vision-language-models-are-bows"
        ),
        "bivlc": "the Parquet files of imirandam/BiVLC",
        "cola": "data/COLA_multiobjects_matching_benchmark.json of https://github.com/arijitray1993/COLA",
        "colorswap": (
            "data/test.json and data/train.json of https://github.com/Top34051/colorswap, or test*.parquet and "
            "train*.parquet of stanfordnlp/colorswap"
        ),
        "mmvp": "Questions.csv and the images of MMVP/MMVP, or the Parquet files of lmms-lab-eval/MMVP",
        "naturalbench": "the Parquet files of BaiqiL/NaturalBench or BaiqiL/NaturalBench-lmms-eval",
        "pope": (
            "output/coco/coco_pope_*.json of https://github.com/AoiDragon/POPE, or the Parquet files of lmms-lab/POPE"
        ),
        "sugarcrepe-pp": "data/<kind>.json of https://github.com/Sri-Harsha/scpp or of Aman-J/SugarCrepe_pp",
        "vismin": "the Parquet or Arrow files of mair-lab/vismin-bench",
        "vsr": (
            "data/splits/<split>/<part>.jsonl of https://github.com/cambridgeltl/visual-spatial-reasoning, or "
            "<part>.jsonl of cambridgeltl/vsr_<split> in vsr/vsr_<split>"
        ),
        "whatsup": "controlled_images_dataset.json and the other JSON files of whatsup_vlms",
    },
)
"""The files to take, by benchmark, whose folder in a data folder has the same name."""

_DATA = frozenset((".parquet", ".arrow", ".json", ".jsonl", ".csv", ".tsv", ".xlsx", ".zip", ".tar", ".gz"))
_STATE = frozenset(("dataset_info.json", "dataset_dict.json", "state.json"))  # beside the tables of save_to_disk
_LOOKED = 10_000  # the most files of a folder that are looked at; a folder of images has more


def other_files(benchmark: str, folders: Sequence[Path]) -> str:
    """Say which file of a benchmark's folder was not read, and what to take in its place; empty if there is none.

    >>> other_files("pope", [Path("nowhere")])
    ''
    """
    files = [file for folder in folders for file in _data_files(folder / benchmark)] if benchmark in TAKE else []
    if not files:
        return ""
    more = f" (and {len(files) - 1:,} more files)" if len(files) > 1 else ""
    return f"{files[0]}{more} has another name, place or form than the files that are read; take {TAKE[benchmark]}"


def _data_files(folder: Path) -> Iterator[Path]:
    for file in sorted(islice(folder.rglob("*"), _LOOKED)):
        if file.suffix.lower() in _DATA and file.name not in _STATE and file.is_file():
            yield file
