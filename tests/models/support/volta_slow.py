"""A slow reference of VOLTA and vilbert-multi-task: one pair at a time, in float64, as sums over plain arrays.

It takes weights by the checkpoints' names and settings by the configurations' names, and shares no code with the
product.
"""

import math

import numpy as np


def erf_gelu(values):
    return values * 0.5 * (1 + np.vectorize(math.erf)(values / math.sqrt(2)))


ACT = {"gelu": erf_gelu, "relu": lambda x: np.maximum(x, 0), "swish": lambda x: x / (1 + np.exp(-x))}


class Slow:
    def __init__(self, config, state):
        self.config = config
        self.state = {name: np.asarray(value.detach(), dtype=np.float64) for name, value in state.items()}

    def lin(self, name, x):
        return x @ self.state[name + ".weight"].T + self.state[name + ".bias"]

    def ln(self, name, x):
        mean = x.mean(axis=-1, keepdims=True)
        spread = np.sqrt(((x - mean) ** 2).mean(axis=-1, keepdims=True) + self.config.get("layer_norm_eps", 1e-12))
        return self.state[name + ".weight"] * (x - mean) / spread + self.state[name + ".bias"]

    def row(self, name, number):
        return self.state[name + ".weight"][number]

    def look(self, queries, keys, values, heads):
        """Attention of each query over a list of (keys, values), all of which share one softmax."""
        size = queries.shape[1] // heads
        found = np.zeros_like(queries)
        for head in range(heads):
            part = slice(head * size, (head + 1) * size)
            for index, query in enumerate(queries):
                weights = np.array([math.exp(query[part] @ key[part] / math.sqrt(size)) for key in keys])
                found[index, part] = sum(
                    w * value[part] for w, value in zip(weights / weights.sum(), values, strict=True)
                )
        return found


def regions_of(config, features, boxes):
    """Features and locations, with the mean at the position that the configuration gives."""
    places = []
    for x1, y1, x2, y2 in np.asarray(boxes, dtype=np.float64):
        places.append([x1, y1, x2, y2, (x2 - x1) * (y2 - y1)][: config["num_locs"]])
    features = [np.asarray(row, dtype=np.float64) for row in features]
    mean, whole = sum(features) / len(features), [0.0, 0.0, 1.0, 1.0, 1.0][: config["num_locs"]]
    if config["add_global_imgfeat"] == "first":
        features, places = [mean, *features], [whole, *places]
    if config["add_global_imgfeat"] == "last":
        features, places = [*features, mean], [*places, whole]
    return np.array(features), np.array(places)


class SlowVolta(Slow):
    def logits(self, ids, features, boxes):
        text, vision = self.embed(ids, *regions_of(self.config, features, boxes))
        numbers = [n for key, value in self.config.items() if key.endswith("_sublayers") for n in value]
        for number in range(max(numbers) + 1):
            text, vision = self.sublayer(number, text, vision)
        pooled = np.maximum(self.lin("bert.t_pooler.dense", text[0]), 0)
        if self.config["fusion_method"] != "text":
            other = np.maximum(self.lin("bert.v_pooler.dense", vision[0]), 0)
            pooled = pooled * other if self.config["fusion_method"] == "mul" else pooled + other
        return self.lin("cls.bi_seq_relationship", pooled)

    def embed(self, ids, features, places):
        e, v = "bert.embeddings.", "bert.v_embeddings."
        words = np.array([self.row(e + "word_embeddings", i) for i in ids])
        words = words + np.array([self.row(e + "position_embeddings", i) for i in range(len(ids))])
        words = words + self.row(e + "token_type_embeddings", 0)
        kind = self.config["image_embeddings"]
        if kind == "vilbert":
            image = self.lin(v + "image_embeddings", features) + self.lin(v + "image_location_embeddings", places)
            return self.ln(e + "LayerNorm", words), self.ln(v + "LayerNorm", image)
        if kind == "lxmert":
            image = self.ln(v + "ImgLayerNorm", self.lin(v + "image_embeddings", features))
            place = self.ln(v + "LocLayerNorm", self.lin(v + "image_location_embeddings", places))
            return self.ln(e + "LayerNorm", words), (image + place) / 2
        if kind == "uniter":
            image = self.ln(e + "image_layer_norm", self.lin(e + "image_embeddings", features))
            place = self.ln(e + "image_location_layer_norm", self.lin(e + "image_location_embeddings", places))
            both = image + place + self.row(e + "token_type_embeddings", 1)
            return self.ln(e + "LayerNorm", words), self.ln(e + "v_LayerNorm", both)
        if kind == "visualbert":
            image = self.lin(e + "projection", features) + self.row(e + "position_embeddings_visual", 0)
            image = image + self.row(e + "token_type_embeddings_visual", 1)
            return self.ln(e + "LayerNorm", words), self.ln(e + "LayerNorm", image)
        return self.embed_vl_bert(e, len(ids), words, features, places)

    def embed_vl_bert(self, e, end, words, features, places):
        dim = self.config["v_coordinate_embeddings_dim"]
        rows = []
        for (x1, y1, x2, y2), feature in zip(places[:, :4], features, strict=True):
            numbers = [(x1 + x2) / 2 * 100, (y1 + y2) / 2 * 100, (x2 - x1) * 100, (y2 - y1) * 100]
            waves = []
            for number in numbers:
                angles = [number / 1000 ** (k / dim) for k in range(dim)]
                waves += [math.sin(a) for a in angles] + [math.cos(a) for a in angles]
            rows.append(np.maximum(self.lin(e + "obj_downsample.1", np.concatenate([waves, feature])), 0))
        image = []
        for number, row in enumerate(rows):
            last = number == len(rows) - 1
            name = self.row(e + ("end_embedding" if last else "object_linguistic_embeddings"), 0)
            place = self.row(e + "position_embeddings", end + 1 if last else end)
            kind = self.row(e + "token_type_embeddings", 2)
            image.append(name + self.ln(e + "visual_ln_object", row) + place + kind)
        words = words + self.ln(e + "visual_ln_text", rows[-1])
        return self.ln(e + "LayerNorm", words), self.ln(e + "LayerNorm", np.array(image))

    def sublayer(self, number, text, vision):
        c, at = self.config, f"bert.encoder.layer.{number}."
        has = {gate: number in c[f"{gate}_attn_sublayers"] for gate in ("tt", "tv", "vt", "vv")}
        new_text, new_vision = text, vision
        if has["tt"] or has["tv"]:
            query, *mine = (self.lin(f"{at}attention_self.{part}", text) for part in ("query", "key", "value"))
        if has["vv"] or has["vt"]:
            v_query, *theirs = (self.lin(f"{at}attention_self.v_{part}", vision) for part in ("query", "key", "value"))
        if has["tt"] or has["tv"]:
            heads = c["sublayer2num_attention_heads"].get(str(number), c["num_attention_heads"])
            seen = [both for both, gate in ((mine, "tt"), (theirs if has["tv"] else None, "tv")) if has[gate]]
            inner = self.look(query, *(np.concatenate(parts) for parts in zip(*seen, strict=True)), heads)
            inner = self.lin(f"{at}attention_output.dense", inner)
            new_text = self.ln(f"{at}attention_output.LayerNorm", inner + text)
        if has["vv"] or has["vt"]:
            heads = c["sublayer2v_num_attention_heads"].get(str(number), c["v_num_attention_heads"])
            seen = [both for both, gate in ((mine if has["vt"] else None, "vt"), (theirs, "vv")) if has[gate]]
            inner = self.look(v_query, *(np.concatenate(parts) for parts in zip(*seen, strict=True)), heads)
            inner = self.lin(f"{at}attention_output.v_dense", inner)
            new_vision = self.ln(f"{at}attention_output.v_LayerNorm", inner + vision)
        if number in c["t_ff_sublayers"]:
            inner = ACT[c["hidden_act"]](self.lin(f"{at}intermediate.dense", text))
            new_text = self.ln(f"{at}output.LayerNorm", self.lin(f"{at}output.dense", inner) + text)
        if number in c["v_ff_sublayers"]:
            inner = ACT[c["v_hidden_act"]](self.lin(f"{at}intermediate.v_dense", vision))
            new_vision = self.ln(f"{at}output.v_LayerNorm", self.lin(f"{at}output.v_dense", inner) + vision)
        return new_text, new_vision


class SlowVilbert(Slow):
    """The ViLBERT of vilbert-multi-task: layers of text, of vision, and across, in which 1 is vision and 2 is text."""

    def logits(self, ids, features, boxes, *, task=None, head="vil_logit"):
        text, vision = self.embed(
            ids, *regions_of({"num_locs": 5, "add_global_imgfeat": "first"}, features, boxes), task
        )
        c = self.config
        t = v = 0
        for number, (v_end, t_end) in enumerate(zip(c["v_biattention_id"], c["t_biattention_id"], strict=True)):
            for t_now in range(t, t_end):
                text = self.layer(f"bert.encoder.layer.{t_now}.", text, c["num_attention_heads"])
            for v_now in range(v, v_end):
                vision = self.layer(f"bert.encoder.v_layer.{v_now}.", vision, c["v_num_attention_heads"])
            text, vision = self.across(f"bert.encoder.c_layer.{number}.", text, vision)
            t, v = t_end, v_end
        for t_now in range(t, c["num_hidden_layers"]):
            text = self.layer(f"bert.encoder.layer.{t_now}.", text, c["num_attention_heads"])
        for v_now in range(v, c["v_num_hidden_layers"]):
            vision = self.layer(f"bert.encoder.v_layer.{v_now}.", vision, c["v_num_attention_heads"])
        pooled_t = np.maximum(self.lin("bert.t_pooler.dense", text[0]), 0)
        pooled_v = np.maximum(self.lin("bert.v_pooler.dense", vision[0]), 0)
        return self.lin(head, pooled_t * pooled_v)

    def embed(self, ids, features, places, task):
        e, v = "bert.embeddings.", "bert.v_embeddings."
        kind = self.row(e + "token_type_embeddings", 0)
        words = [
            self.row(e + "word_embeddings", i) + self.row(e + "position_embeddings", n) + kind
            for n, i in enumerate(ids)
        ]
        if task is not None:
            words.insert(1, self.row(e + "task_embeddings", task))
        image = self.lin(v + "image_embeddings", features) + self.lin(v + "image_location_embeddings", places)
        return self.ln(e + "LayerNorm", np.array(words)), self.ln(v + "LayerNorm", image)

    def layer(self, at, states, heads):
        query, key, value = (self.lin(f"{at}attention.self.{part}", states) for part in ("query", "key", "value"))
        inner = self.lin(f"{at}attention.output.dense", self.look(query, key, value, heads))
        states = self.ln(f"{at}attention.output.LayerNorm", inner + states)
        return self.feed(f"{at}intermediate.", f"{at}output.", states)

    def feed(self, first, second, states):
        inner = erf_gelu(self.lin(f"{first}dense", states))
        return self.ln(f"{second}LayerNorm", self.lin(f"{second}dense", inner) + states)

    def across(self, at, text, vision):
        of_vision = [self.lin(f"{at}biattention.{part}1", vision) for part in ("query", "key", "value")]
        of_text = [self.lin(f"{at}biattention.{part}2", text) for part in ("query", "key", "value")]
        heads = self.config["bi_num_attention_heads"]
        to_text = self.lin(f"{at}biOutput.dense2", self.look(of_text[0], *of_vision[1:], heads))
        to_vision = self.lin(f"{at}biOutput.dense1", self.look(of_vision[0], *of_text[1:], heads))
        text = self.ln(f"{at}biOutput.LayerNorm2", to_text + text)
        vision = self.ln(f"{at}biOutput.LayerNorm1", to_vision + vision)
        return (
            self.feed(f"{at}t_intermediate.", f"{at}t_output.", text),
            self.feed(f"{at}v_intermediate.", f"{at}v_output.", vision),
        )
