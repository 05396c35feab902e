"""Dual encoders of open_clip: CLIP, SigLIP, CoCa and relatives."""
