"""What can be wrong with a language model and its tokenizer although both could be loaded, tried before it is asked."""

from __future__ import annotations

from typing import Any

from vlgate.errors import ModelLoadError

MOST_APART = 0.01  # of logits, of which another token has no business to change any


def check_size(model: Any, tokenizer: Any, asked: str) -> None:
    """Say whether a model knows all tokens of the tokenizer that was loaded beside it.

    Raises: ModelLoadError.
    """
    known = model.get_input_embeddings().num_embeddings
    if len(tokenizer) > known:
        raise ModelLoadError(
            f"the tokenizer of {asked} has {len(tokenizer)} tokens, the model knows {known}; save the tokenizer that "
            "it was trained with beside the weights"
        )


def check_left_to_right(model: Any, asked: str) -> None:
    """Say whether a model's tokens see those before them only: BERT loads as a causal model, too, and sees the answer.

    Raises: ModelLoadError.
    """
    import torch

    last = model.get_input_embeddings().num_embeddings - 1
    ids = torch.tensor([[1, 2, 1, 3, 2], [1, 2, 1, 3, last]], device=model.device)
    with torch.inference_mode():
        one, other = model(input_ids=ids, use_cache=False).logits[:, :-1].float()
    if not (one - other).abs().max().item() <= MOST_APART * one.abs().max().item():
        raise ModelLoadError(
            f"{asked} is a {model.config.model_type} that sees the tokens that it should predict, so that it has no "
            "perplexity; name a causal model, or use masked:NAME for its pseudo-perplexity"
        )


def longest_text(model: Any, tokenizer: Any, endless: int) -> int:
    """How many tokens a model takes, special tokens included; ``endless`` where nothing says."""
    limits = [getattr(model.config, name, None) for name in ("max_position_embeddings", "n_positions")]
    found = [one for one in (*limits, tokenizer.model_max_length) if isinstance(one, int) and 0 < one < endless]
    # RoBERTa and its kin count places from behind the number of their padding.
    places = getattr(getattr(model.base_model, "embeddings", None), "position_embeddings", None)
    padding = getattr(places, "padding_idx", None)
    if places is not None and padding is not None:
        found.append(places.num_embeddings - padding - 1)
    return min(found, default=endless)
