"""VOLTA's models on region features from a file; the loops have them as arrays. There are two texts per image.

No library has these models. The loops run the layers of transformers that do the same arithmetic, with the same
weights; the parts before and after these layers are the module's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from contests.contest import IMAGES, LARGE, Contest, against, drawn, imported, margin, pairs, sentences
from contests.regions import Ready
from vlgate.models.regions.regions import WIDTH
from vlgate.models.regions.volta import vilbert_mt
from vlgate.models.regions.volta.config import Config, parse, shapes
from vlgate.models.regions.volta.encoder import Seen, Weights, embed, logits, with_overall
from vlgate.models.regions.volta.sources import published
from vlgate.types import Match

SIZES = {
    **{f"{v}{name}": size for name, size in LARGE.items() for v in ("", "v_")},
    "pooler_size": 384, "v_pooler_size": 384, "v_feature_size": WIDTH, "max_position_embeddings": 64,
}  # fmt: skip
BERT = {name: size for name, size in LARGE.items() if name != "num_hidden_layers"}
SPREAD = 0.1
"""The factor on the tests' weights; without it, rounding errors grow from layer to layer at this width."""


def volta_uniter(folder: Path) -> Contest:
    """A single stream of eight layers; the loop runs ``BertEncoder`` over texts and regions as one sequence."""
    import torch

    hf, tiny, names = imported("transformers"), imported("volta_checkpoints"), imported("volta_in_transformers")
    eight = {
        name: [place for place in value if place < 16]
        for name, value in published("uniter").items()
        if name.endswith("_sublayers")
    }
    settings = published("uniter") | SIZES | eight | {"vocab_size": len(tiny.TOKENS)}
    state, config = _saved("uniter", settings, folder)
    weights = Weights({name: state[name] for name in shapes(config)})
    encoder = hf.BertModel(hf.BertConfig(**LARGE), add_pooling_layer=False).encoder.eval()
    encoder.load_state_dict(names.of_bert(weights.tensors, 8, to="layer"))
    ask = _asker(folder, config)

    def bare(some: Sequence[Match]) -> list[float]:
        seen = ask(some)
        streams = embed(config, weights, seen)
        there = torch.cat([seen.words, seen.regions], dim=1)
        states = encoder(torch.cat(list(streams.values()), dim=1), attention_mask=there[:, None, None, :])[0]
        return _pooled(weights, config, states[:, 0], states[:, seen.words.shape[1]])

    return _contest("volta-uniter", folder, bare)


def volta_lxmert(folder: Path) -> Contest:
    """Two streams and five layers, two of them across; the loop runs transformers' ``LxmertModel``."""
    hf, tiny, names = imported("transformers"), imported("volta_checkpoints"), imported("volta_in_transformers")
    state, config = _saved("lxmert", tiny.config_of("lxmert", **SIZES | names.LXMERT), folder)
    weights = Weights({name: state[name] for name in shapes(config)})
    own = {"vocab_size": len(tiny.TOKENS), "max_position_embeddings": 64, "type_vocab_size": 3}
    layers = {"l_layers": 2, "r_layers": 1, "x_layers": 2, "visual_feat_dim": WIDTH} | BERT
    model = names.loaded(hf.LxmertModel(hf.LxmertConfig(**own, **layers)), names.of_lxmert(state))
    ask = _asker(folder, config)

    def bare(some: Sequence[Match]) -> list[float]:
        seen = ask(some)
        found = model(
            input_ids=seen.ids, attention_mask=seen.words.long(), visual_feats=seen.features, visual_pos=seen.locations
        )
        return _pooled(weights, config, found.language_output[:, 0], found.vision_output[:, 0])

    return _contest("volta-lxmert", folder, bare)


def vilbert_12_in_1(folder: Path) -> Contest:
    """ViLBERT's task heads; no library has them, so the loop runs the module's own network on prepared inputs."""
    import torch

    tiny = imported("volta_checkpoints")
    settings = tiny.MULTI | vilbert_mt.published()["vilbert-12-in-1"] | LARGE | {
        "vocab_size": len(tiny.TOKENS), "max_position_embeddings": 64, "v_hidden_size": 384, "v_num_attention_heads": 6,
        "v_intermediate_size": 384, "bi_hidden_size": 384, "bi_num_attention_heads": 6, "num_hidden_layers": 12,
    }  # fmt: skip
    tiny.MULTI = settings  # the writer of the checkpoint reads them
    state = {name: value * SPREAD if value.ndim > 1 else value for name, value in tiny.multi_state().items()}
    tiny.write(folder, settings, state, name="multi_task_model.bin")
    config = parse(vilbert_mt.in_words_of_volta(settings, "", head=vilbert_mt.RANKING, task_tokens=20), "")
    back = vilbert_mt.renamed(settings)
    own = {back.get(f"{module}.", f"{module}.") + last: value for (module, _, last), value in _parted(state)}
    weights = Weights({name: own[name] for name in shapes(config)})
    ask = _asker(folder, config)

    def bare(some: Sequence[Match]) -> list[float]:
        tensor: torch.Tensor = logits(config, weights, ask(some), 8)
        scores: list[float] = tensor[:, 0].tolist()
        return scores

    return _contest("vilbert-12-in-1", folder, bare)


CONTESTS: tuple[Callable[[Path], Contest], ...] = (volta_uniter, volta_lxmert, vilbert_12_in_1)


def _parted(state: dict[str, Any]) -> list[tuple[tuple[str, str, str], Any]]:
    return [(name.rpartition("."), value) for name, value in state.items()]


def _saved(kind: str, settings: dict[str, Any], folder: Path) -> tuple[dict[str, Any], Config]:
    tiny = imported("volta_checkpoints")
    settings = settings | {"image_embeddings": kind}
    state = {name: value * SPREAD if value.ndim > 1 else value for name, value in tiny.state_of(settings).items()}
    tiny.write(folder, settings, state)
    return state, parse(settings, "")


def _asker(folder: Path, config: Config) -> Callable[[Sequence[Match]], Seen]:
    """From pairs to tensors: the tokenizer on a batch, and rows of the ready arrays with their mean."""
    import torch

    tokenizer = imported("transformers").BertTokenizer.from_pretrained(folder)
    ready = Ready(drawn(), folder)

    def ask(some: Sequence[Match]) -> Seen:
        tokens = tokenizer([one.text for one in some], padding=True, return_tensors="pt")
        features, boxes = ready.of(some)
        there = torch.ones(features.shape[:2], dtype=torch.bool)
        features, locations, there = with_overall(config, features, boxes, there)
        words = tokens["attention_mask"].bool()
        return Seen(ids=tokens["input_ids"], words=words, features=features, locations=locations, regions=there)

    return ask


def _pooled(weights: Weights, config: Config, text: Any, vision: Any) -> list[float]:
    pooled = weights.linear("bert.t_pooler.dense", text).relu() * weights.linear("bert.v_pooler.dense", vision).relu()
    return margin(weights.linear(config.head, pooled), 0)


def _contest(name: str, folder: Path, bare: Callable[[Sequence[Match]], list[float]]) -> Contest:
    requests = pairs(drawn(), sentences(imported("volta_checkpoints").WORDS[:-3], 2 * IMAGES))
    return against(name, f"{name}:{folder}?regions={folder / 'regions.npz'}", requests, bare)
