"""What models attend to: Grad-CAM for dual encoders, attention to regions, rollout, alignment of words with patches."""
