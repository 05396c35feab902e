"""Generative vision-and-language models of transformers: their prompts, and the probabilities of their replies."""
