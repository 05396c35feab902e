"""The text after ``volta-vilbert:`` and the like in ``--model``: a file of weights, and its configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.fingerprint import expanded
from vlgate.models.checkpoints.hub import Pretrained, holdings
from vlgate.models.cross.cross_encoder import RankScore, rank_score
from vlgate.models.regions.feature_file import is_features
from vlgate.models.regions.regions import COUNT
from vlgate.models.regions.volta import vilbert_mt
from vlgate.models.regions.volta.config import ALIGNMENT, GATES, Config, parse, read_json
from vlgate.models.regions.volta.encoder import MATCH
from vlgate.models.specs import Options, registered

if TYPE_CHECKING:
    import torch


def published(name: str) -> dict[str, Any]:
    sections = vilbert_mt.published()
    own = sections[name] if name in ("vilbert", "lxmert") else sections["single-stream"] | sections.get(name, {})
    return {**sections["all"], **own, "image_embeddings": name}


VILBERT_MT = "vilbert-12-in-1"
FILES = ("pytorch_model*.bin", "multi_task_model*.bin", "pretrained_model*.bin", "*.safetensors")
RETRIEVAL = 8  # the default task of ViLBERT 12-in-1: to retrieve captions of Flickr30k (TASK8); 7 is the same for COCO
_WHERE = (
    "VOLTA's are linked in MODELS.md of github.com/e-bug/volta, ViLBERT 12-in-1's in the README of "
    "github.com/facebookresearch/vilbert-multi-task"
)
_OTHER_DETECTOR = "ViLBERT and 12-in-1 were trained on the regions of a ResNeXt-152 detector"


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightsFile:
    file: Path
    config: Config
    options: Options
    task: int = 0  # of a model with task tokens
    regions: int | None = COUNT  # per image; None for any
    whose: str = ""  # the detector of the regions, if it is not the built-in one
    renamed: Mapping[str, str] | None = None  # VOLTA's prefixes for those of the checkpoint
    unused: tuple[str, ...] = ()  # parts of names that matching does not use

    @property
    def rank(self) -> RankScore:
        return rank_score(self.options, MATCH if self.config.head == ALIGNMENT else None)

    @property
    def beside(self) -> Pretrained:  # where a tokenizer may lie
        return Pretrained(asked=str(self.file), location=str(self.file.parent), revision=None, local=True)

    def in_words_of_volta(self, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        if self.renamed is None:
            return dict(tensors)
        translated: dict[str, torch.Tensor] = {}
        for name, value in tensors.items():
            module, _, last = name.rpartition(".")
            start = f"{module}."
            known = start in self.renamed or any(part in name for part in self.unused)
            if name.startswith("bert.encoder.") and not known:
                raise ModelLoadError(
                    f"{self.file} does not fit its configuration, which has no {name}; name the configuration of "
                    "vilbert-multi-task that it was trained with (config=FILE)"
                )
            translated[self.renamed.get(start, start) + last] = value
        if remedy := vilbert_mt.remedy(self.config, tensors):
            raise ModelLoadError(f"{self.file} {remedy}")
        return translated


def find(name: str, weights: str, folder: Path) -> WeightsFile:
    path, options = registered()[name].parsed(weights)
    file = _file(name, path, folder)
    chosen = expanded(options["config"], folder) if options["config"] else None
    if chosen is None and (beside := expanded(path, folder)).is_dir():
        marks = [f'"{gate}"' for gate in (("v_biattention_id",) if name == VILBERT_MT else GATES)]
        files = sorted(beside.glob("*.json"))
        texts = [other.read_text(encoding="utf-8", errors="replace") for other in files]
        fit = [other for other, text in zip(files, texts, strict=True) if any(mark in text for mark in marks)]
        if len(fit) > 1:
            names = ", ".join(other.name for other in fit)
            raise ModelLoadError(f"{beside} holds several configurations ({names}); name one with config=FILE")
        chosen = fit[0] if fit else None
    content = None if chosen is None else read_json(chosen)
    where = "the published configuration" if chosen is None else str(chosen)
    if name == VILBERT_MT:
        return _multi_task(file, folder, options, content, where)
    kind = name.removeprefix("volta-")
    config = parse(published(kind) if content is None else content, where)
    if config.embeddings != kind:
        raise ModelLoadError(
            f"{where}: image_embeddings={config.embeddings!r}, but {name} needs {kind!r}; name the model of that "
            f"configuration, volta-{config.embeddings}"
        )
    return WeightsFile(file=file, config=config, options=options)


def _file(name: str, asked: str, folder: Path) -> Path:
    path = expanded(asked, folder)
    if not asked or not path.exists():
        raise ModelLoadError(
            f"{name}:{asked}: there is no file or folder {path if asked else '(none is named)'}; download the weights "
            f"that their authors published, which are on no hub: {_WHERE}"
        )
    if path.is_file():
        return path
    files = sorted({file for pattern in FILES for file in path.glob(pattern)})
    if len(files) != 1:
        raise ModelLoadError(f"{name}: {holdings(path)}; expected one of {', '.join(FILES)}; name the file itself")
    return files[0]


def _multi_task(file: Path, folder: Path, options: Options, content: dict[str, Any] | None, where: str) -> WeightsFile:
    regions = expanded(options["regions"], folder)
    if not options["regions"] or (regions.is_dir() and not is_features(regions)):
        raise ModelLoadError(
            f"{VILBERT_MT} needs a file of features: {_OTHER_DETECTOR}, whose features differ from those of the "
            "built-in detector; name one with regions=FILE, such as an LMDB of vilbert-multi-task's own scripts"
        )
    head = vilbert_mt.HEADS[options["head"]]
    # The pretrained model has no task tokens; the multi-task model can also use the pretraining's head.
    tasks = vilbert_mt.TASK_TOKENS if head != ALIGNMENT or "task" in options else 0
    task = options.get("task", str(RETRIEVAL)) if tasks else "0"
    if not task.isascii() or not task.isdecimal() or int(task) >= vilbert_mt.TASK_TOKENS:
        raise ModelLoadError(f"task={task!r}: expected a task's number below {vilbert_mt.TASK_TOKENS}, such as 7 or 8")
    settings = vilbert_mt.published()[VILBERT_MT] if content is None else content
    return WeightsFile(
        file=file,
        config=parse(vilbert_mt.in_words_of_volta(settings, where, head=head, task_tokens=tasks), where),
        options=options,
        regions=None,  # from 10 to 100: those that the detector is certain of
        whose=_OTHER_DETECTOR,
        task=int(task),
        renamed=vilbert_mt.renamed(settings),
        unused=vilbert_mt.UNUSED,
    )
