"""Random checkpoints of further families: with tiled images, and with layers that keep one running state."""

import tiny_vlms
import transformers
from tiny_vlms import LLAVA_TEMPLATE, QWEN_TEMPLATE, SEEING, TEXT, made, tokenizer

QWEN_IMAGE = "<|vision_start|><|image_pad|><|vision_end|>"
SQUARE = {"height": 32, "width": 32}
GRIDS = [[32, 64], [64, 32], [64, 64]]


def words_with(*tokens, bos=False, **named):
    """A tokenizer with more special tokens; the library looks some of them up by name."""
    words = tokenizer(bos=bos)
    words.add_special_tokens({"additional_special_tokens": list(tokens)})
    for name, token in named.items():
        setattr(words, name, token)
        setattr(words, f"{name}_id", words.convert_tokens_to_ids(token))
    return words


def numbers(words, **tokens):
    return {name: words.convert_tokens_to_ids(token) for name, token in tokens.items()}


def internvl():
    words = words_with(
        "<img>", "</img>", "<IMG_CONTEXT>", start_image_token="<img>", end_image_token="</img>",
        context_image_token="<IMG_CONTEXT>", video_token="<|video_pad|>",
    )  # fmt: skip
    config = transformers.InternVLConfig(
        vision_config={**SEEING, "image_size": [32, 32], "patch_size": [8, 8]},
        text_config={**TEXT, "model_type": "qwen2", "vocab_size": len(words)}, downsample_ratio=0.5, image_seq_length=4,
        **numbers(words, image_token_id="<IMG_CONTEXT>"),
    )  # fmt: skip
    images = transformers.GotOcr2ImageProcessor(size=SQUARE, crop_to_patches=True, min_patches=1, max_patches=4)
    template = QWEN_TEMPLATE.replace(QWEN_IMAGE, "<IMG_CONTEXT>\n")
    processor = transformers.InternVLProcessor(
        images, words, transformers.InternVLVideoProcessor(size=SQUARE), image_seq_length=4, chat_template=template
    )
    return made(transformers.InternVLForConditionalGeneration, config), processor


def llava_next():
    words = tokenizer(bos=True)
    config = transformers.LlavaNextConfig(
        vision_config=transformers.CLIPVisionConfig(**SEEING), text_config=transformers.LlamaConfig(**TEXT),
        image_grid_pinpoints=GRIDS, **numbers(words, image_token_index="<image>"),
    )  # fmt: skip
    images = transformers.LlavaNextImageProcessor(
        size={"shortest_edge": 32}, crop_size=SQUARE, image_grid_pinpoints=GRIDS
    )
    processor = transformers.LlavaNextProcessor(
        images, words, patch_size=8, vision_feature_select_strategy="default", num_additional_image_tokens=1,
        chat_template=LLAVA_TEMPLATE,
    )  # fmt: skip
    return made(transformers.LlavaNextForConditionalGeneration, config), processor


def llava_onevision():
    words = tokenizer()
    config = transformers.LlavaOnevisionConfig(
        vision_config=transformers.SiglipVisionConfig(**SEEING), text_config=transformers.Qwen2Config(**TEXT),
        image_grid_pinpoints=GRIDS, vision_feature_layer=-1, vision_feature_select_strategy="full",
        **numbers(words, image_token_index="<image>"),
    )  # fmt: skip
    images = transformers.LlavaOnevisionImageProcessor(size=SQUARE, image_grid_pinpoints=GRIDS)
    processor = transformers.LlavaOnevisionProcessor(
        images, words, transformers.LlavaOnevisionVideoProcessor(size=SQUARE), num_image_tokens=16,
        vision_feature_select_strategy="full", chat_template=LLAVA_TEMPLATE,
    )  # fmt: skip
    return made(transformers.LlavaOnevisionForConditionalGeneration, config), processor


def mistral3():
    words = words_with("[IMG]", "[IMG_BREAK]", "[IMG_END]", "[INST]", "[/INST]", bos=True)
    seeing = {**SEEING, "image_size": 64, "head_dim": 8}
    config = transformers.Mistral3Config(
        vision_config=transformers.PixtralVisionConfig(**seeing), spatial_merge_size=2,
        text_config=transformers.MistralConfig(**{**TEXT, "vocab_size": len(words), "head_dim": 8}),
        **numbers(words, image_token_index="[IMG]"),
    )  # fmt: skip
    patch = {"height": 8, "width": 8}
    processor = transformers.PixtralProcessor(
        transformers.PixtralImageProcessor(size={"longest_edge": 64}, patch_size=patch), words, patch_size=8,
        spatial_merge_size=2, chat_template="<s>[INST][IMG]{{ messages[0].content[1].text }}[/INST]",
    )  # fmt: skip
    return made(transformers.Mistral3ForConditionalGeneration, config), processor


def glm4v():
    names = (
        "image_token",
        "video_token",
        "image_start_token",
        "image_end_token",
        "video_start_token",
        "video_end_token",
    )
    tokens = tuple(f"<|{name}|>" for name in names)
    words = words_with(*tokens, image_token=tokens[0], video_token=tokens[1])
    rope = {"rope_type": "default", "mrope_section": [2, 1, 1], "rope_theta": 10000.0, "partial_rotary_factor": 1.0}
    config = transformers.Glm4vConfig(
        text_config={**TEXT, "vocab_size": len(words), "head_dim": 8, "rope_parameters": rope},
        vision_config={
            "depth": 2, "hidden_size": 32, "intermediate_size": 64, "num_heads": 4, "patch_size": 8,
            "out_hidden_size": 32, "image_size": 64,
        },
        **numbers(words, **{f"{name}_id": token for name, token in zip(names, tokens, strict=True)}),
    )  # fmt: skip
    images = transformers.Glm4vImageProcessor(patch_size=8, size={"shortest_edge": 512, "longest_edge": 8192})
    template = QWEN_TEMPLATE.replace(QWEN_IMAGE, "".join((tokens[2], tokens[0], tokens[3])))
    processor = transformers.Glm4vProcessor(
        images, words, transformers.Glm4vVideoProcessor(patch_size=8), chat_template=template
    )
    return made(transformers.Glm4vForConditionalGeneration, config), processor


def gemma3():
    """Its layers attend over a sliding window, and the tokens of an image attend to each other."""
    words = words_with("<boi>", "<eoi>", boi_token="<boi>", eoi_token="<eoi>", image_token="<image>")
    text = {
        **TEXT, "vocab_size": len(words), "head_dim": 8, "sliding_window": 16, "query_pre_attn_scalar": 8,
        "layer_types": ["sliding_attention", "full_attention"],
    }  # fmt: skip
    config = transformers.Gemma3Config(
        vision_config=transformers.SiglipVisionConfig(**SEEING, vision_use_head=False), text_config=text,
        mm_tokens_per_image=4,
        **numbers(words, image_token_index="<image>", boi_token_index="<boi>", eoi_token_index="<eoi>"),
    )  # fmt: skip
    processor = transformers.Gemma3Processor(
        transformers.Gemma3ImageProcessor(size=SQUARE), words, image_seq_length=4,
        chat_template="<s>" + QWEN_TEMPLATE.replace(QWEN_IMAGE, "<boi>"),
    )  # fmt: skip
    return made(transformers.Gemma3ForConditionalGeneration, config), processor


def qwen3_5():
    """Three layers in four keep a running state (a gated delta rule), not keys and values."""
    model, processor = tiny_vlms.qwen3_vl()
    rope = {**model.config.text_config.rope_parameters, "partial_rotary_factor": 1.0}
    linear = {
        "linear_key_head_dim": 8, "linear_value_head_dim": 8, "linear_num_key_heads": 2, "linear_num_value_heads": 4,
        "linear_conv_kernel_dim": 4, "layer_types": ["linear_attention", "full_attention"],
    }  # fmt: skip
    vision = {**model.config.vision_config.to_dict(), "deepstack_visual_indexes": []}
    ids = {name: getattr(model.config, name) for name in ("image_token_id", "video_token_id", "vision_start_token_id")}
    config = transformers.Qwen3_5Config(
        text_config={**TEXT, "head_dim": 8, "rope_parameters": rope, **linear},
        vision_config={name: value for name, value in vision.items() if name != "model_type"}, **ids,
    )  # fmt: skip
    return made(transformers.Qwen3_5ForConditionalGeneration, config), processor


SHARED = {
    "internvl": internvl, "llava_next": llava_next, "llava_onevision": llava_onevision, "mistral3": mistral3,
    "glm4v": glm4v,
}  # fmt: skip
WHOLE = {"gemma3": gemma3, "qwen3_5": qwen3_5}
