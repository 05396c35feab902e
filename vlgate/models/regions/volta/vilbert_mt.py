"""Translates configurations and weights of facebookresearch/vilbert-multi-task to VOLTA's names.

The arithmetic is the same. Lu et al., "12-in-1: Multi-Task Vision and Language Representation Learning" (CVPR 2020).
"""

import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from vlgate.errors import ModelLoadError
from vlgate.models.regions.volta.config import ALIGNMENT, Config

RANKING = "vil_logit"  # the head of the retrieval tasks: one number, higher for a better match
TASK_TOKENS = 20
_GENERAL = ("vocab_size", "max_position_embeddings", "type_vocab_size", "hidden_size", "num_attention_heads",
            "intermediate_size", "v_hidden_size", "v_num_attention_heads", "v_intermediate_size", "v_feature_size",
            "hidden_act", "v_hidden_act")  # fmt: skip
_NEEDED = ("num_hidden_layers", "v_num_hidden_layers", "t_biattention_id", "v_biattention_id", "bi_hidden_size",
           "bi_num_attention_heads")  # fmt: skip
_PARTS = ("query", "key", "value")


def published() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("published.toml").read_text(encoding="utf-8"))


def steps(content: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return the layers in running order, as pairs of a kind (``layer``, ``v_layer``, ``c_layer``) and a number."""
    layers: list[tuple[str, int]] = []
    text = vision = 0
    ends = zip(content["t_biattention_id"], content["v_biattention_id"], strict=True)
    for number, (text_end, vision_end) in enumerate(ends):
        layers += [("layer", index) for index in range(text, text_end)]
        layers += [("v_layer", index) for index in range(vision, vision_end)]
        layers.append(("c_layer", number))
        text, vision = text_end, vision_end
    layers += [("layer", index) for index in range(text, content["num_hidden_layers"])]
    return layers + [("v_layer", index) for index in range(vision, content["v_num_hidden_layers"])]


def in_words_of_volta(content: Mapping[str, Any], where: str, *, head: str, task_tokens: int) -> dict[str, Any]:
    lacking = [name for name in _NEEDED if name not in content]
    if lacking:
        raise ModelLoadError(
            f"{where} lacks {', '.join(lacking)}; expected a configuration of vilbert-multi-task "
            "(config/bert_base_6layer_6conect.json)"
        )
    try:
        order = [kind for kind, _ in steps(content)]
        text, vision, across = (
            [2 * index for index, kind in enumerate(order) if kind == wanted]
            for wanted in ("layer", "v_layer", "c_layer")
        )
        wide, heads = content["bi_hidden_size"], content["bi_num_attention_heads"]
        return {name: content[name] for name in _GENERAL if name in content} | {
            "tt_attn_sublayers": text,
            "vv_attn_sublayers": vision,
            "tv_attn_sublayers": across,
            "vt_attn_sublayers": across,
            "t_ff_sublayers": [place + 1 for place in sorted(across + text)],
            "v_ff_sublayers": [place + 1 for place in sorted(across + vision)],
            **{f"sublayer2{v}attn_hidden_size": {str(place): wide for place in across} for v in ("", "v_")},
            **{f"sublayer2{v}num_attention_heads": {str(place): heads for place in across} for v in ("", "v_")},
            "pooler_size": wide,
            "v_pooler_size": wide,
            "image_embeddings": "vilbert",
            "add_global_imgfeat": "first",
            "fusion_method": content.get("fusion_method", "mul"),
            "head": head,
            "task_tokens": task_tokens,
        }
    except (TypeError, ValueError, KeyError) as error:
        raise ModelLoadError(f"{where} cannot be read ({type(error).__name__}: {error}); download it again") from error


def renamed(content: Mapping[str, Any]) -> dict[str, str]:
    prefixes: dict[str, str] = {}
    for index, (kind, number) in enumerate(steps(content)):
        own = f"bert.encoder.{kind}.{number}."
        attends, feeds = f"bert.encoder.layer.{2 * index}.", f"bert.encoder.layer.{2 * index + 1}."
        if kind == "c_layer":  # co-attention, in which 1 is vision and 2 is text
            for v, digit, letter in (("v_", "1", "v"), ("", "2", "t")):
                prefixes |= {
                    f"{own}biattention.{part}{digit}.": f"{attends}attention_self.{v}{part}." for part in _PARTS
                }
                for part in ("dense", "LayerNorm"):
                    prefixes[f"{own}biOutput.{part}{digit}."] = f"{attends}attention_output.{v}{part}."
                    prefixes[f"{own}{letter}_output.{part}."] = f"{feeds}output.{v}{part}."
                prefixes[f"{own}{letter}_intermediate.dense."] = f"{feeds}intermediate.{v}dense."
        else:
            v = "" if kind == "layer" else "v_"
            prefixes |= {f"{own}attention.self.{part}.": f"{attends}attention_self.{v}{part}." for part in _PARTS}
            for part in ("dense", "LayerNorm"):
                prefixes[f"{own}attention.output.{part}."] = f"{attends}attention_output.{v}{part}."
                prefixes[f"{own}output.{part}."] = f"{feeds}output.{v}{part}."
            prefixes[f"{own}intermediate.dense."] = f"{feeds}intermediate.{v}dense."
    return prefixes


def remedy(config: Config, names: Collection[str]) -> str:
    has_tasks = "bert.embeddings.task_embeddings.weight" in names
    if config.head == RANKING and f"{RANKING}.weight" not in names:
        return "has no head that ranks, like ViLBERT before its training on tasks; add head=alignment, without a task"
    if config.task_tokens and not has_tasks:
        rest = "leave task out" if config.head == ALIGNMENT else "add head=alignment, without a task"
        return f"has no tokens for tasks, unlike multi_task_model.bin; {rest}"
    if has_tasks and not config.task_tokens:
        return "has tokens for tasks; add task=8 (captions of Flickr30k) or task=7 (captions of COCO)"
    return ""


UNUSED = (".biOutput.q_dense1.", ".biOutput.q_dense2.")  # modules that the release creates and saves, but does not use

HEADS = {"ranking": RANKING, "alignment": ALIGNMENT}
