"""Random checkpoints of further families of generative models, each with the parts that its processor needs."""

import more_tiny_vlms
import tokenizers
import transformers
from more_tiny_vlms import QWEN_IMAGE, SQUARE, numbers, qwen3_5
from tiny_vlms import QWEN_TEMPLATE, SEEING, TEXT, made, tokenizer


def words_with(*tokens, **named):
    """A tokenizer with more special tokens; those that the library looks up by name are saved with it."""
    words = more_tiny_vlms.words_with(*tokens)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=words.backend_tokenizer, bos_token="<s>", eos_token="</s>", pad_token="<pad>",
        unk_token="<unk>", extra_special_tokens=named,
    )  # fmt: skip


IMAGE_FIRST = QWEN_TEMPLATE.replace(QWEN_IMAGE, "<image>")


def perception_lm():
    words = words_with("<|image|>", "<|video|>", image_token="<|image|>", video_token="<|video|>")
    vision = {
        "model_type": "timm_wrapper", "architecture": "vit_pe_core_large_patch14_336", "do_pooling": True,
        "num_classes": 0, "global_pool": "map",
        "model_args": {
            "embed_dim": 64, "img_size": (28, 28), "depth": 2, "global_pool": "", "use_post_transformer_norm": False,
            "init_values": 0.1, "ref_feat_shape": (2, 2),
        },
    }  # fmt: skip
    config = transformers.PerceptionLMConfig(
        vision_config=vision, text_config=transformers.LlamaConfig(**{**TEXT, "vocab_size": len(words)}),
        **numbers(words, image_token_id="<|image|>", video_token_id="<|video|>"),
    )  # fmt: skip
    processor = transformers.PerceptionLMProcessor(
        image_processor=transformers.PerceptionLMImageProcessor(tile_size=28, max_num_tiles=4), tokenizer=words,
        video_processor=transformers.PerceptionLMVideoProcessor(size={"height": 28, "width": 28}), patch_size=14,
        pooling_ratio=1, chat_template=QWEN_TEMPLATE.replace(QWEN_IMAGE, "<|image|>"),
    )  # fmt: skip
    return made(transformers.PerceptionLMForConditionalGeneration, config), processor


def fast_vlm():
    words = tokenizer()
    vision = {
        "model_type": "timm_wrapper", "architecture": "fastvit_mci3", "do_pooling": True, "global_pool": "avg",
        "hidden_size": 128, "initializer_range": 0.02,
        "model_args": {"inference_mode": True, "layers": (1, 1, 1, 1, 1), "embed_dims": (4, 8, 16, 32, 64)},
    }  # fmt: skip
    config = transformers.FastVlmConfig(
        vision_config=vision, text_config=transformers.Qwen2Config(**TEXT), image_seq_length=1,
        **numbers(words, image_token_index="<image>"),
    )  # fmt: skip
    size = {"height": 64, "width": 64}
    processor = transformers.LlavaProcessor(
        transformers.CLIPImageProcessor(size={"shortest_edge": 64}, crop_size=size), words, patch_size=64,
        vision_feature_select_strategy="full", num_additional_image_tokens=0, chat_template=IMAGE_FIRST,
    )  # fmt: skip
    return made(transformers.FastVlmForConditionalGeneration, config), processor


def cohere2_vision():
    words = words_with(
        "<|START_OF_IMG|>", "<|END_OF_IMG|>", "<|IMG_PATCH|>", "<|IMG_LINE_BREAK|>", boi_token="<|START_OF_IMG|>",
        eoi_token="<|END_OF_IMG|>", image_token="<|IMG_PATCH|>", img_line_break_token="<|IMG_LINE_BREAK|>",
    )  # fmt: skip
    config = transformers.Cohere2VisionConfig(
        vision_config=transformers.SiglipVisionConfig(**SEEING),
        text_config=transformers.Cohere2Config(**{**TEXT, "vocab_size": len(words), "sliding_window": 16}),
        alignment_intermediate_size=64, downsample_factor=2, **numbers(words, image_token_id="<|IMG_PATCH|>"),
    )  # fmt: skip
    images = transformers.Cohere2VisionImageProcessor(
        size=SQUARE, patch_size=2, crop_to_patches=True, min_patches=1, max_patches=4
    )
    template = QWEN_TEMPLATE.replace(QWEN_IMAGE, "<|IMG_PATCH|>")
    processor = transformers.Cohere2VisionProcessor(images, words, chat_template=template)
    return made(transformers.Cohere2VisionForConditionalGeneration, config), processor


def ovis2():
    tokens = ("<IMG_START>", "<IMG_GRID>", "<IMG_COL>", "<IMG_ROW>", "<IMG_END>")
    words = words_with("<IMG_ATOM>", *tokens)
    vision = {
        **SEEING, "vocab_size": 40, "num_visual_indicator_tokens": 5, "hidden_stride": 1,
    }  # fmt: skip
    config = transformers.Ovis2Config(
        vision_config=transformers.models.ovis2.Ovis2VisionConfig(**vision), hidden_size=32, vocab_size=len(words),
        text_config=transformers.Qwen2Config(**{**TEXT, "vocab_size": len(words)}),
        image_token_id=words.convert_tokens_to_ids("<IMG_ATOM>"),
        visual_indicator_token_ids=words.convert_tokens_to_ids(list(tokens)),
    )  # fmt: skip
    images = transformers.Ovis2ImageProcessor(size=SQUARE, crop_to_patches=True, min_patches=1, max_patches=4)
    processor = transformers.Ovis2Processor(images, words, image_seq_length=16, chat_template=IMAGE_FIRST)
    return made(transformers.Ovis2ForConditionalGeneration, config), processor


def aria():
    words = words_with("<|img|>", image_token="<|img|>")
    vision = {**SEEING, "image_size": 980, "patch_size": 140}
    config = transformers.AriaConfig(
        vision_config=transformers.models.idefics3.Idefics3VisionConfig(**vision),
        text_config={
            **TEXT, "vocab_size": len(words), "moe_num_experts": 4, "moe_topk": 2, "moe_num_shared_experts": 1,
        },
        projector_patch_to_query_dict={12: 4, 49: 6}, **numbers(words, image_token_index="<|img|>"),
    )  # fmt: skip
    processor = transformers.AriaProcessor(
        transformers.AriaImageProcessor(max_image_size=980), words, size_conversion={490: 4, 980: 6},
        chat_template=QWEN_TEMPLATE.replace(QWEN_IMAGE, "<|img|>"),
    )  # fmt: skip
    return made(transformers.AriaForConditionalGeneration, config), processor


def chameleon():
    atoms = [f"IMGIMG{'ABCDEFGHIJ'[n // 10]}{'ABCDEFGHIJ'[n % 10]}Z" for n in range(16)]
    words = words_with(
        "<racm3:break>", "<eoss>", "<reserved>", *atoms, image_token="<image>", boi_token="<racm3:break>",
        eoi_token="<eoss>",
    )  # fmt: skip
    words.add_special_tokens({"sep_token": "<reserved>"})
    vision = {
        "embed_dim": 8, "num_embeddings": 16, "latent_channels": 8, "resolution": 32, "base_channels": 32,
        "channel_multiplier": [1, 2, 2], "num_res_blocks": 1,
    }  # fmt: skip
    config = transformers.ChameleonConfig(
        **{**TEXT, "vocab_size": len(words)}, vq_config=vision, vocabulary_map=words.get_vocab()
    )
    images = transformers.ChameleonImageProcessor(size={"shortest_edge": 32}, crop_size=SQUARE)
    processor = transformers.ChameleonProcessor(images, words, image_seq_length=64)
    return made(transformers.ChameleonForConditionalGeneration, config), processor


def emu3():
    atoms = [f"<|visual token {n:06d}|>" for n in range(16)]
    named = {
        "image_token": "<image>", "boi_token": "<|image start|>", "eoi_token": "<|image end|>",
        "image_wrapper_token": "<|image token|>", "eof_token": "<|extra_201|>",
    }  # fmt: skip
    words = words_with(*named.values(), "<|extra_200|>", *atoms, **named)
    vision = {
        "codebook_size": 16, "embed_dim": 4, "latent_channels": 4, "base_channels": 32, "channel_multiplier": [1] * 4,
        "num_res_blocks": 1, "attn_resolutions": [], "hidden_size": 32, "temporal_downsample_factor": 1,
    }  # fmt: skip
    config = transformers.Emu3Config(
        vq_config=vision, vocabulary_map=words.get_vocab(),
        text_config={**TEXT, "vocab_size": len(words), "attention_dropout": 0.0},
    )  # fmt: skip
    images = transformers.Emu3ImageProcessor(min_pixels=32 * 32, max_pixels=64 * 64)
    processor = transformers.Emu3Processor(images, words, chat_template=IMAGE_FIRST)
    return made(transformers.Emu3ForConditionalGeneration, config), processor


def qwen3_5_moe():
    model, processor = qwen3_5()
    text = {**model.config.text_config.to_dict(), "moe_intermediate_size": 32, "shared_expert_intermediate_size": 32}
    text |= {"num_experts_per_tok": 2, "num_experts": 4}
    drop = ("model_type", "intermediate_size", "architectures", "dtype")
    ids = {name: getattr(model.config, name) for name in ("image_token_id", "video_token_id", "vision_start_token_id")}
    vision = model.config.vision_config.to_dict()
    config = transformers.Qwen3_5MoeConfig(
        text_config={name: value for name, value in text.items() if name not in drop},
        vision_config={name: value for name, value in vision.items() if name not in ("model_type", "dtype")}, **ids,
    )  # fmt: skip
    return made(transformers.Qwen3_5MoeForConditionalGeneration, config), processor


def molmo2():
    tokens = (
        "<im_start>", "<low_res_im_start>", "<im_end>", "<im_patch>", "<im_col>", "<frame_start>", "<frame_end>",
        "<im_low>", "<|image|>", "<|video|>",
    )  # fmt: skip
    words = words_with(*tokens)
    text = {
        **{name: value for name, value in TEXT.items() if not name.endswith("token_id")}, "head_dim": 8,
        "vocab_size": len(words) - len(tokens), "additional_vocab_size": len(tokens),
    }  # fmt: skip
    vision = {
        "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 4, "head_dim": 8, "image_size": [32, 32], "patch_size": 8,
    }  # fmt: skip
    adapter = {
        "vision_feature_layer": [1, 0], "hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 4,
        "head_dim": 8, "intermediate_size": 64, "text_hidden_size": 32,
    }  # fmt: skip
    names = {
        "image_start_token_id": "<im_start>", "low_res_image_start_token_id": "<low_res_im_start>",
        "image_end_token_id": "<im_end>", "image_patch_id": "<im_patch>", "frame_start_token_id": "<frame_start>",
        "frame_end_token_id": "<frame_end>",
    }  # fmt: skip
    config = transformers.Molmo2Config(
        text_config=text, vision_config=vision, adapter_config=adapter, **numbers(words, **names)
    )
    images = transformers.Molmo2ImageProcessor(
        size=SQUARE, patch_size=8, max_crops=2, overlap_margins=[1, 1], pooling_size=[2, 2]
    )
    processor = transformers.Molmo2Processor(
        images, transformers.Molmo2VideoProcessor(size=SQUARE, patch_size=8), words,
        chat_template=QWEN_TEMPLATE.replace(QWEN_IMAGE, "<|image|>"),
    )  # fmt: skip
    return made(transformers.Molmo2ForConditionalGeneration, config), processor


def minicpmv4_6():
    named = {
        "image_token": "<unk_image>", "video_token": "<unk_video>", "image_start_token": "<image>",
        "image_end_token": "</image>", "slice_start_token": "<slice>", "slice_end_token": "</slice>",
        "image_id_start_token": "<image_id>", "image_id_end_token": "</image_id>",
    }  # fmt: skip
    words = words_with(*named.values(), **named)
    text = qwen3_5()[0].config.text_config.to_dict()
    config = transformers.MiniCPMV4_6Config(
        text_config={**text, "vocab_size": len(words)}, vision_config={**SEEING, "image_size": 64},
        insert_layer_id=0, image_size=64, **numbers(words, image_token_id="<unk_image>", video_token_id="<unk_video>"),
    )  # fmt: skip
    sizes = {"scale_resolution": 64, "patch_size": 8, "max_slice_nums": 4}
    processor = transformers.MiniCPMV4_6Processor(
        transformers.MiniCPMV4_6ImageProcessor(**sizes), transformers.MiniCPMV4_6VideoProcessor(**sizes), words,
        chat_template=QWEN_TEMPLATE.replace(QWEN_IMAGE, "<unk_image>\n"),
    )  # fmt: skip
    return made(transformers.MiniCPMV4_6ForConditionalGeneration, config), processor


def kimi_k25():
    tokens = ("<|media_pad|>", "<|kimi_k25_video_placeholder|>", "<|media_begin|>", "<|media_end|>")
    words = words_with(*tokens)
    text = {
        **TEXT, "model_type": "deepseek_v3", "vocab_size": len(words), "num_key_value_heads": 4,
        "moe_intermediate_size": 32, "n_routed_experts": 4, "kv_lora_rank": 16, "q_lora_rank": 16,
        "qk_rope_head_dim": 8, "v_head_dim": 8, "qk_nope_head_dim": 8, "n_group": 1, "topk_group": 1,
        "num_experts_per_tok": 2, "first_k_dense_replace": 1, "num_mtp_layers": 0,
    }  # fmt: skip
    vision = {
        "patch_size": 8, "pos_emb_height": 8, "pos_emb_width": 8, "num_attention_heads": 4, "num_hidden_layers": 2,
        "hidden_size": 32, "intermediate_size": 64,
    }  # fmt: skip
    ids = numbers(words, image_token_id=tokens[0], video_token_id=tokens[1], vision_start_token_id=tokens[2])
    config = transformers.Kimi_K25Config(
        text_config=text, vision_config=vision, projection_hidden_size=32, vision_end_token_id=len(words) - 1,
        tie_word_embeddings=False, **ids,
    )  # fmt: skip
    processor = transformers.Kimi_K25Processor(
        transformers.Kimi_K25ImageProcessor(patch_size=8, max_patches=64), words,
        transformers.Kimi_K25VideoProcessor(patch_size=8), chat_template=QWEN_TEMPLATE.replace(QWEN_IMAGE, tokens[0]),
    )  # fmt: skip
    return made(transformers.Kimi_K25ForConditionalGeneration, config), processor


def mllama():
    """Its image is read by cross attention, so its tokens are not in the sequence."""
    words = words_with("<|python_tag|>", "<|image|>", image_token="<|image|>")
    text = {**TEXT, "vocab_size": len(words) - 1, "cross_attention_layers": [1]}
    vision = {
        "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_global_layers": 1,
        "attention_heads": 4, "vision_output_dim": 64, "intermediate_layers_indices": [0], "image_size": 32,
        "patch_size": 8,
    }  # fmt: skip
    config = transformers.MllamaConfig(
        text_config=text, vision_config=vision, **numbers(words, image_token_index="<|image|>")
    )
    processor = transformers.MllamaProcessor(
        transformers.MllamaImageProcessor(size=SQUARE, max_image_tiles=4), words,
        chat_template="<s>" + QWEN_TEMPLATE.replace(QWEN_IMAGE, "<|image|>"),
    )  # fmt: skip
    model = made(transformers.MllamaForConditionalGeneration, config)
    for name, parameter in model.named_parameters():
        if name.endswith("gate") or "_gate" in name:  # zero at first, which would hide the image
            parameter.data.fill_(0.7)
    return model, processor


def florence2():
    words = words_with("<image_pad>", image_token="<image_pad>")
    words = with_ends(words, "<s> $A </s>")
    text = {
        "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
        "decoder_attention_heads": 4, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "vocab_size": len(words),
        "max_position_embeddings": 256, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
        "decoder_start_token_id": 2,
    }  # fmt: skip
    vision = {
        "depths": [1, 1], "patch_size": [7, 3], "patch_stride": [4, 2], "patch_padding": [3, 1],
        "patch_prenorm": [False, True], "embed_dim": [16, 32], "num_heads": [2, 4], "num_groups": [2, 4],
        "window_size": 4, "projection_dim": 32,
    }  # fmt: skip
    config = transformers.Florence2Config(
        text_config={**text, "model_type": "bart"}, vision_config=vision, **numbers(words, image_token_id="<image_pad>")
    )
    images = transformers.CLIPImageProcessor(size=SQUARE, crop_size=SQUARE, do_center_crop=False)
    images.image_seq_length = 17
    return made(transformers.Florence2ForConditionalGeneration, config), transformers.Florence2Processor(images, words)


def with_ends(words, around):
    """A tokenizer that writes tokens around each text."""
    words.backend_tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        around, special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    return words


def queried(name, *, opt=False):
    """BLIP-2 and InstructBLIP, with a T5 or with an OPT."""
    words = with_ends(words_with(), "</s> $A" if opt else "$A </s>")
    images = transformers.BlipImageProcessor(size=SQUARE)
    parts = (images, words) if name == "Blip2" else (images, words, with_ends(words_with(), "<s> $A </s>"))
    processor = getattr(transformers, f"{name}Processor")(*parts, num_query_tokens=4)
    t5 = {
        "model_type": "t5", "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4,
        "vocab_size": len(words), "pad_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 0,
    }  # fmt: skip
    opt_text = {
        "model_type": "opt", "hidden_size": 32, "ffn_dim": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
        "vocab_size": len(words), "word_embed_proj_dim": 32, "max_position_embeddings": 256, "pad_token_id": 0,
        "bos_token_id": 2, "eos_token_id": 2,
    }  # fmt: skip
    qformer = {
        "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
        "encoder_hidden_size": 32, "vocab_size": len(words), "cross_attention_frequency": 1,
    }  # fmt: skip
    config = getattr(transformers, f"{name}Config")(
        vision_config=SEEING, qformer_config=qformer, text_config=opt_text if opt else t5, num_query_tokens=4,
        **numbers(words, image_token_index="<image>"),
    )  # fmt: skip
    return made(getattr(transformers, f"{name}ForConditionalGeneration"), config), processor


def blip2():
    return queried("Blip2")


def instructblip():
    return queried("InstructBlip")


def blip2_opt():
    return queried("Blip2", opt=True)


def instructblip_opt():
    return queried("InstructBlip", opt=True)


NEWER = {
    "molmo2": molmo2, "minicpmv4_6": minicpmv4_6, "kimi_k25": kimi_k25, "perception_lm": perception_lm,
    "fast_vlm": fast_vlm, "cohere2_vision": cohere2_vision, "ovis2": ovis2, "aria": aria, "chameleon": chameleon,
    "emu3": emu3, "qwen3_5_moe": qwen3_5_moe, "mllama": mllama, "florence2": florence2, "blip2": blip2,
    "instructblip": instructblip, "blip2_opt": blip2_opt, "instructblip_opt": instructblip_opt,
}  # fmt: skip
SHARED = {name: NEWER[name] for name in ("aria", "fast_vlm", "kimi_k25", "mllama", "perception_lm")}
