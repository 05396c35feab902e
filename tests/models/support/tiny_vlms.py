"""Checkpoints with random weights of generative models, small enough to be made in a test."""

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


TEXT = {
    "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "vocab_size": 520, "max_position_embeddings": 512, "pad_token_id": 0,
    "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
SEEING = {
    "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "image_size": 32,
    "patch_size": 8,
}  # fmt: skip


def llava(*, template=True):
    words = tokenizer(bos=True)
    config = transformers.LlavaConfig(
        vision_config=transformers.CLIPVisionConfig(**SEEING), text_config=transformers.LlamaConfig(**TEXT),
        image_token_index=words.convert_tokens_to_ids("<image>"),
    )  # fmt: skip
    images = transformers.CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32})
    processor = transformers.LlavaProcessor(
        images, words, patch_size=8, vision_feature_select_strategy="default", num_additional_image_tokens=1,
        chat_template=LLAVA_TEMPLATE if template else None,
    )  # fmt: skip
    return made(transformers.LlavaForConditionalGeneration, config), processor


def idefics3():
    words = tokenizer()
    config = transformers.Idefics3Config(
        vision_config=transformers.models.idefics3.Idefics3VisionConfig(**SEEING),
        text_config=transformers.LlamaConfig(**TEXT), image_token_id=words.convert_tokens_to_ids("<image>"),
        scale_factor=2, pad_token_id=0,
    )  # fmt: skip
    images = transformers.Idefics3ImageProcessor(size={"longest_edge": 64}, max_image_size={"longest_edge": 32})
    processor = transformers.Idefics3Processor(images, words, image_seq_len=4, chat_template=IDEFICS_TEMPLATE)
    return made(transformers.Idefics3ForConditionalGeneration, config), processor


def qwen3_vl():
    words = tokenizer()
    names = ("image", "video", "vision_start", "vision_end")
    tokens = ("<|image_pad|>", "<|video_pad|>", "<|vision_start|>", "<|vision_end|>")
    ids = {f"{name}_token_id": words.convert_tokens_to_ids(token) for name, token in zip(names, tokens, strict=True)}
    rope = {"rope_type": "default", "mrope_section": [2, 1, 1], "rope_theta": 10000.0, "mrope_interleaved": True}
    config = transformers.Qwen3VLConfig(
        text_config={**TEXT, "head_dim": 8, "rope_parameters": rope},
        vision_config={
            "depth": 2, "hidden_size": 32, "intermediate_size": 64, "num_heads": 4, "patch_size": 8,
            "out_hidden_size": 32, "num_position_embeddings": 16, "deepstack_visual_indexes": [0],
        },
        **ids,
    )  # fmt: skip
    images = transformers.Qwen2VLImageProcessor(patch_size=8, size={"shortest_edge": 256, "longest_edge": 4096})
    videos = transformers.Qwen3VLVideoProcessor(patch_size=8)
    processor = transformers.Qwen3VLProcessor(images, words, videos, chat_template=QWEN_TEMPLATE)
    return made(transformers.Qwen3VLForConditionalGeneration, config), processor


def paligemma():
    words = tokenizer()
    images = transformers.SiglipImageProcessor(size={"height": 32, "width": 32})
    images.image_seq_length = 16
    processor = transformers.PaliGemmaProcessor(images, words)
    config = transformers.PaliGemmaConfig(
        vision_config=transformers.SiglipVisionConfig(**SEEING, projection_dim=32),
        text_config={**TEXT, "model_type": "gemma", "head_dim": 8, "vocab_size": len(words) + 8}, projection_dim=32,
        image_token_index=words.convert_tokens_to_ids("<image>"), vocab_size=len(words) + 8,
    )  # fmt: skip
    return made(transformers.PaliGemmaForConditionalGeneration, config), processor


def smolvlm():
    """A relative of Idefics 3, with its processor: its own needs a package that writes numbers as words, for videos."""
    _, processor = idefics3()
    config = transformers.SmolVLMConfig(
        vision_config=transformers.models.smolvlm.SmolVLMVisionConfig(**SEEING),
        text_config=transformers.LlamaConfig(**TEXT), image_token_id=processor.image_token_id, scale_factor=2,
        pad_token_id=0,
    )  # fmt: skip
    return made(transformers.SmolVLMForConditionalGeneration, config), processor


def qwen2_vl():
    return older_qwen("Qwen2VL", {"embed_dim": 32, "mlp_ratio": 2, "hidden_size": 32})


def qwen2_5_vl():
    vision = {"hidden_size": 32, "intermediate_size": 64, "out_hidden_size": 32, "window_size": 32}
    return older_qwen("Qwen2_5_VL", {**vision, "fullatt_block_indexes": [1]})


def older_qwen(name, vision):
    _, processor = qwen3_vl()
    words = processor.tokenizer
    names = ("image", "video", "vision_start", "vision_end")
    tokens = ("<|image_pad|>", "<|video_pad|>", "<|vision_start|>", "<|vision_end|>")
    ids = {f"{one}_token_id": words.convert_tokens_to_ids(token) for one, token in zip(names, tokens, strict=True)}
    rope = {"rope_type": "default", "mrope_section": [2, 1, 1], "rope_theta": 10000.0}
    config = getattr(transformers, f"{name}Config")(
        text_config={**TEXT, "rope_parameters": rope},
        vision_config={"depth": 2, "num_heads": 4, "patch_size": 8, **vision}, **ids,
    )  # fmt: skip
    whole = transformers.Qwen2VLProcessor(
        processor.image_processor, words, transformers.Qwen2VLVideoProcessor(patch_size=8), chat_template=QWEN_TEMPLATE
    )
    return made(getattr(transformers, f"{name}ForConditionalGeneration"), config), whole


FAMILIES = {"llava": llava, "idefics3": idefics3, "qwen3_vl": qwen3_vl, "paligemma": paligemma}
KIN = {"smolvlm": smolvlm, "qwen2_vl": qwen2_vl, "qwen2_5_vl": qwen2_5_vl}


def made(cls, config):
    """A model with random weights, large enough that texts and images matter."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = cls(config).eval()
        for parameter in model.parameters():
            if parameter.ndim > 1:
                torch.nn.init.normal_(parameter, std=0.2)
    return model
