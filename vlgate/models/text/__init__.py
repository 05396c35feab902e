"""Text-only language models: perplexity and pseudo-perplexity."""
