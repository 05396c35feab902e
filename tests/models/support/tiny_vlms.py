"""Checkpoints with random weights of generative models, small enough to be made in a test: tiny_vlms.toml lists them.

A section is ``like`` another one, with the rest changed. In it, ``$len`` and ``$vocab`` stand for the tokenizer's size
and vocabulary, and ``ids`` are values of the configuration that are tokens.
"""

from functools import partial

import tables
import tokenizers
import torch
import transformers

WORDS = """Does this figure show a red square? Please answer yes or no. Yes No What colour is the big cup on the table
Answer with one of: red, blue. Describe this image in one sentence. two dogs run over green grass and a cat sleeps
User: Assistant: system user assistant <|im_start|> answer en caption en Red Blue word or short phrase Does Does"""
SPECIAL = [
    "<pad>", "<s>", "</s>", "<unk>", "<image>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>",
    "<|image_pad|>", "<|video_pad|>", "<fake_token_around_image>", "<end_of_utterance>", "<global-img>",
    *(f"<row_{row}_col_{col}>" for row in range(1, 7) for col in range(1, 7)),
]  # fmt: skip
QWEN_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% for c in m.content %}{% if c.type == 'image' %}"
    "<|vision_start|><|image_pad|><|vision_end|>{% else %}{{ c.text }}{% endif %}{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
IDEFICS_TEMPLATE = (
    "<s>{% for m in messages %}User:{% for c in m.content %}{% if c.type == 'image' %}<image>{% else %}"
    "{{ c.text | trim }}{% endif %}{% endfor %}<end_of_utterance>\n{% endfor %}Assistant:"
)
LLAVA_TEMPLATE = (
    "{% for m in messages %}USER: {% for c in m.content %}{% if c.type == 'image' %}<image>\n{% else %}"
    "{{ c.text }} {% endif %}{% endfor %}{% endfor %}ASSISTANT:"
)


def tokenizer(*, bos=False):
    """A byte-level BPE, trained on some forty words."""
    fast = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
    fast.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    fast.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=520, special_tokens=SPECIAL, show_progress=False,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    fast.train_from_iterator(WORDS.splitlines() * 5, trainer)
    if bos:
        fast.post_processor = tokenizers.processors.TemplateProcessing("<s> $A", special_tokens=[("<s>", 1)])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=fast, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>"
    )


TABLE, BASES = tables.read(__file__)
QWEN_IMAGE = "<|vision_start|><|image_pad|><|vision_end|>"
TEMPLATES = {"QWEN": QWEN_TEMPLATE, "IDEFICS": IDEFICS_TEMPLATE, "LLAVA": LLAVA_TEMPLATE}


def section(name):
    own = TABLE[name]
    kin = section(own["like"]) if "like" in own else {"config": {}}
    return {**kin, **own, "config": kin["config"] | own.get("config", {})}


def words_with(tokens=(), named=(), special=(), around="", *, bos=False):
    """A tokenizer with more special tokens; those that the library looks up by name are saved with it."""
    words = tokenizer(bos=bos)
    words.add_special_tokens({"additional_special_tokens": list(tokens)})
    if around:
        words.backend_tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
            around, special_tokens=[("<s>", 1), ("</s>", 2)]
        )
    if tokens or named:
        words = transformers.PreTrainedTokenizerFast(
            tokenizer_object=words.backend_tokenizer, bos_token="<s>", eos_token="</s>", pad_token="<pad>",
            unk_token="<unk>", extra_special_tokens=dict(named),
        )  # fmt: skip
    words.add_special_tokens(dict(special))
    return words


def filled(value, words):
    return tables.filled(value, BASES, {"vocab": words.get_vocab(), "len": len(words)})


def built(family):
    about = section(family)
    words = words_with(**about.get("words", {}))
    ids = {name: words.convert_tokens_to_ids(token) for name, token in about.get("ids", {}).items()}
    config = {"class": f"{about['name']}Config", **about["config"], **ids}
    parts = {"tokenizer": words, "image_processor": filled(about["images"], words)}
    if "videos" in about:
        parts["video_processor"] = filled(about["videos"], words)
    if about["name"] == "InstructBlip":
        parts["qformer_tokenizer"] = words_with(around="<s> $A </s>")
    if template := about.get("template"):
        whole = template.get("text") or template.get("before", "") + TEMPLATES[template["base"]]
        parts["chat_template"] = whole.replace(QWEN_IMAGE, template.get("image", QWEN_IMAGE))
    processor = {"class": f"{about['name']}Processor"} | about.get("processor", {})
    model = made(getattr(transformers, f"{about['name']}ForConditionalGeneration"), filled(config, words))
    for name, parameter in model.named_parameters():
        if about["name"] == "Mllama" and (name.endswith("gate") or "_gate" in name):
            parameter.data.fill_(0.7)  # zero at first, which would hide the image
    options = {name: filled(value, words) for name, value in processor.items() if name != "class"}
    return model, getattr(transformers, processor["class"])(**parts, **options)


def of_group(group):
    return {name: partial(built, name) for name, about in TABLE.items() if group in about["group"].split()}


FAMILIES, WHOLE, NEWER = (of_group(group) for group in ("families", "whole", "newer"))
KIN = of_group("kin") | of_group("shared")
qwen2_vl, qwen3_vl = KIN["qwen2_vl"], FAMILIES["qwen3_vl"]


def llava(*, template=True):
    model, processor = built("llava")
    if not template:
        processor.chat_template = None
    return model, processor


def made(cls, config):
    """A model with random weights, large enough that texts and images matter."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = cls(config).eval()
        for parameter in model.parameters():
            if parameter.ndim > 1:
                torch.nn.init.normal_(parameter, std=0.2)
    return model


def save(name, folder):
    """Write a checkpoint of any group, as ``save_pretrained`` does."""
    for part in built(name):
        part.save_pretrained(folder)
    return folder
