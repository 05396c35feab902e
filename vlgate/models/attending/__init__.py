"""What models attend to: Grad-CAM for dual encoders, attention to regions, alignment of words with patches."""
