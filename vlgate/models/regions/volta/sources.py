"""The text after ``volta-vilbert:`` and the like in ``--model``: a file of weights, and its configuration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vlgate.errors import ModelLoadError
from vlgate.models.cross.cross_encoder import RankScore, rank_score
from vlgate.models.regions.feature_file import is_features
from vlgate.models.regions.regions import COUNT
from vlgate.models.regions.volta import vilbert_mt
from vlgate.models.regions.volta.config import ALIGNMENT, GATES, Config, parse, read_json
from vlgate.models.regions.volta.encoder import MATCH
from vlgate.models.specs import Options, registered

if TYPE_CHECKING:
    import torch


# The configurations with which VOLTA's controlled models were published (``config/ctrl_*.json`` of e-bug/volta).

NAMES = ("vilbert", "lxmert", "uniter", "vl-bert", "visualbert")


def published(name: str) -> dict[str, Any]:
    """Return the settings of a controlled model, under VOLTA's names."""
    common: dict[str, Any] = {
        "vocab_size": 30522, "max_position_embeddings": 512, "type_vocab_size": 2, "bert_model": "bert-base-uncased",
        "hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072, "pooler_size": 1024,
        "v_hidden_size": 768, "v_num_attention_heads": 12, "v_intermediate_size": 3072, "v_pooler_size": 1024,
        "v_feature_size": 2048, "num_locs": 5, "add_global_imgfeat": "first", "fusion_method": "mul",
        "image_embeddings": name,
    }  # fmt: skip
    return common | {"vilbert": _vilbert, "lxmert": _lxmert}.get(name, _single_stream)() | _EXTRA.get(name, {})


_EXTRA: dict[str, dict[str, Any]] = {"vl-bert": {"type_vocab_size": 3, "v_coordinate_embeddings_dim": 256}}


def _vilbert() -> dict[str, list[int]]:
    # Six layers of text, then six of co-attention, each followed by one layer of each stream by itself.
    across, alone = range(12, 36, 4), range(14, 36, 4)
    return _lists([*range(0, 12, 2), *alone], alone, across, (range(1, 36, 2), range(13, 36, 2)))


def _lxmert() -> dict[str, list[int]]:
    # Nine layers of text and five of vision, then five of cross-attention (shared weights) and self-attention.
    across, alone, after = range(18, 33, 3), range(19, 33, 3), range(20, 33, 3)
    feeds = ([*range(1, 18, 2), *after], [*range(1, 10, 2), *after])
    lists = _lists([*range(0, 18, 2), *alone], [*range(0, 10, 2), *alone], across, feeds)
    return lists | {"shared_sublayers": list(across)}


def _single_stream() -> dict[str, list[int]]:
    # Twelve layers of BERT, in which every token attends to every token.
    even, odd = range(0, 24, 2), range(1, 24, 2)
    lists = _lists(even, even, even, (odd, odd))
    return lists | {"shared_sublayers": list(range(24)), "single_ln_sublayers": list(range(24))}


def _lists(
    text: Iterable[int], vision: Iterable[int], across: Iterable[int], feeds: tuple[Iterable[int], Iterable[int]]
) -> dict[str, list[int]]:
    """The sublayers of each gate; ``feeds`` are the feed-forward sublayers of text and of vision."""
    names = ("tt_attn", "tv_attn", "vt_attn", "vv_attn", "t_ff", "v_ff")
    places = (text, across, across, vision, *feeds)
    return {f"{name}_sublayers": list(some) for name, some in zip(names, places, strict=True)}


VILBERT_MT = "vilbert-12-in-1"
FILES = ("pytorch_model*.bin", "multi_task_model*.bin", "pretrained_model*.bin", "*.safetensors")
RETRIEVAL = 8
"""The default task of ViLBERT 12-in-1: to retrieve captions of Flickr30k (TASK8); 7 is the same for COCO."""
_WHERE = (
    "VOLTA's are linked in MODELS.md of github.com/e-bug/volta, ViLBERT 12-in-1's in the README of "
    "github.com/facebookresearch/vilbert-multi-task"
)
_OTHER_DETECTOR = "ViLBERT and 12-in-1 were trained on the regions of a ResNeXt-152 detector"


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightsFile:
    """A checkpoint: its file, its configuration and its options.

    ``task`` is the task of a model with task tokens. ``regions`` is the regions per image (None: any), and ``whose``
    names their detector if it is not the built-in one. ``renamed`` gives VOLTA's prefixes for those of the checkpoint,
    and ``unused`` parts of names that matching does not use.
    """

    file: Path
    config: Config
    options: Options
    task: int = 0
    regions: int | None = COUNT
    whose: str = ""
    renamed: Mapping[str, str] | None = None
    unused: tuple[str, ...] = ()

    @property
    def rank(self) -> RankScore:
        return rank_score(self.options, MATCH if self.config.head == ALIGNMENT else None)

    def in_words_of_volta(self, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Return a checkpoint's tensors under VOLTA's names."""
        if self.renamed is None:
            return dict(tensors)
        found: dict[str, torch.Tensor] = {}
        for name, value in tensors.items():
            module, _, last = name.rpartition(".")
            start = f"{module}."
            known = start in self.renamed or any(part in name for part in self.unused)
            if name.startswith("bert.encoder.") and not known:
                raise ModelLoadError(
                    f"{self.file} does not fit its configuration, which has no {name}; name the configuration of "
                    "vilbert-multi-task that it was trained with (config=FILE)"
                )
            found[self.renamed.get(start, start) + last] = value
        if remedy := vilbert_mt.remedy(self.config, tensors):
            raise ModelLoadError(f"{self.file} {remedy}")
        return found


def find(name: str, weights: str, folder: Path) -> WeightsFile:
    multi = name == VILBERT_MT
    path, options = registered()[name].parsed(weights)
    file = _file(name, path, folder)
    content, where = _configuration(options["config"], folder / Path(path).expanduser(), folder, multi=multi)
    if multi:
        return _multi_task(name, file, folder, options, content, where)
    return _controlled(name, file, options, content, where)


def _file(name: str, asked: str, folder: Path) -> Path:
    path = folder / Path(asked).expanduser()
    if not asked or not path.exists():
        raise ModelLoadError(
            f"{name}:{asked}: there is no file or folder {path if asked else '(none is named)'}; download the weights "
            f"that their authors published, which are on no hub: {_WHERE}"
        )
    if path.is_file():
        return path
    found = sorted({file for pattern in FILES for file in path.glob(pattern)})
    if len(found) != 1:
        has = ", ".join(sorted(file.name for file in path.iterdir())) or "nothing"
        raise ModelLoadError(f"{name}: {path} holds {has}; expected one of {', '.join(FILES)}; name the file itself")
    return found[0]


def _configuration(asked: str, path: Path, folder: Path, *, multi: bool) -> tuple[dict[str, Any] | None, str]:
    """The configuration that a user names, or the one in the folder; None for the published one."""
    if asked:
        file = folder / Path(asked).expanduser()
        return read_json(file), str(file)
    mark = ("v_biattention_id",) if multi else tuple(GATES)
    found = [file for file in sorted(path.glob("*.json")) if _has(file, mark)] if path.is_dir() else []
    if len(found) > 1:
        names = ", ".join(file.name for file in found)
        raise ModelLoadError(f"{path} holds several configurations ({names}); name one with config=FILE")
    return (read_json(found[0]), str(found[0])) if found else (None, "the published configuration")


def _has(file: Path, names: tuple[str, ...]) -> bool:
    content = file.read_text(encoding="utf-8", errors="replace")
    return any(f'"{name}"' in content for name in names)


def _controlled(name: str, file: Path, options: Options, content: dict[str, Any] | None, where: str) -> WeightsFile:
    kind = name.removeprefix("volta-")
    config = parse(published(kind) if content is None else content, where)
    if config.embeddings != kind:
        known = " or ".join(f"volta-{other}" for other in NAMES if other == config.embeddings)
        raise ModelLoadError(
            f"{where}: image_embeddings={config.embeddings!r}, but {name} needs {kind!r}; name the model of that "
            f"configuration, {known}"
        )
    return WeightsFile(file=file, config=config, options=options)


def _multi_task(
    name: str, file: Path, folder: Path, options: Options, content: dict[str, Any] | None, where: str
) -> WeightsFile:
    regions = folder / Path(options["regions"]).expanduser()
    if not options["regions"] or (regions.is_dir() and not is_features(regions)):
        raise ModelLoadError(
            f"{name} needs a file of features: {_OTHER_DETECTOR}, whose features differ from those of the built-in "
            "detector; name one with regions=FILE, such as an LMDB of vilbert-multi-task's own scripts"
        )
    head = vilbert_mt.HEADS[options["head"]]
    # The pretrained model has no task tokens; the multi-task model can also use the pretraining's head.
    tasks = vilbert_mt.TASK_TOKENS if head != ALIGNMENT or "task" in options else 0
    settings = vilbert_mt.PUBLISHED if content is None else content
    return WeightsFile(
        file=file,
        config=parse(vilbert_mt.in_words_of_volta(settings, where, head=head, task_tokens=tasks), where),
        options=options,
        regions=None,  # from 10 to 100: those that the detector is certain of
        whose=_OTHER_DETECTOR,
        task=_task(options.get("task", str(RETRIEVAL))) if tasks else 0,
        renamed=vilbert_mt.renamed(settings),
        unused=vilbert_mt.UNUSED,
    )


def _task(asked: str) -> int:
    if not asked.isascii() or not asked.isdecimal() or int(asked) >= vilbert_mt.TASK_TOKENS:
        raise ModelLoadError(f"task={asked!r}: expected a task's number below {vilbert_mt.TASK_TOKENS}, such as 7 or 8")
    return int(asked)
