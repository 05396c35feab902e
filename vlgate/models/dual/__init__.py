"""Dual encoders of transformers: CLIP, SigLIP, ALIGN and relatives."""
