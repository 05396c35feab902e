"""Check that a language model and its tokenizer fit together, and that a causal model is one."""

from __future__ import annotations

from typing import Any

from vlgate.errors import ModelLoadError

# The largest relative change of a causal model's earlier logits if the last token changes; only rounding may cause one.
MOST_APART = 0.01


def check_size(model: Any, tokenizer: Any, asked: str) -> None:
    """Check that a model has an embedding for every token of its tokenizer.

    Raises: ModelLoadError if the tokenizer has more tokens.
    """
    known = model.get_input_embeddings().num_embeddings
    if len(tokenizer) > known:
        raise ModelLoadError(
            f"the tokenizer of {asked} has {len(tokenizer)} tokens, but the model has embeddings for {known}; save the "
            "tokenizer that it was trained with into the folder of the weights"
        )


def check_left_to_right(model: Any, asked: str) -> None:
    """Check that each token of a model sees only the tokens before it.

    transformers also loads BERT as a causal model, although its tokens see the token that they should predict.

    Raises: ModelLoadError if the last token changes the logits of earlier ones.
    """
    import torch

    last = model.get_input_embeddings().num_embeddings - 1
    ids = torch.tensor([[1, 2, 1, 3, 2], [1, 2, 1, 3, last]], device=model.device)
    with torch.inference_mode():
        one, other = model(input_ids=ids, use_cache=False).logits[:, :-1].float()
    if not (one - other).abs().max().item() <= MOST_APART * one.abs().max().item():
        raise ModelLoadError(
            f"{asked} is a {model.config.model_type} that sees the tokens that it should predict, so it has no "
            "perplexity; name a causal model, or use masked:NAME for the pseudo-perplexity"
        )


def longest_text(model: Any, tokenizer: Any, endless: int) -> int:
    """Return how many tokens a model takes, special tokens included; ``endless`` if no limit is known."""
    limits = [getattr(model.config, name, None) for name in ("max_position_embeddings", "n_positions")]
    found = [one for one in (*limits, tokenizer.model_max_length) if isinstance(one, int) and 0 < one < endless]
    # RoBERTa and its relatives number positions from the padding token's id + 1.
    places = getattr(getattr(model.base_model, "embeddings", None), "position_embeddings", None)
    padding = getattr(places, "padding_idx", None)
    if places is not None and padding is not None:
        found.append(places.num_embeddings - padding - 1)
    return min(found, default=endless)
