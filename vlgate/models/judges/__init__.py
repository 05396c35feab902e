"""Language models that judge captions and foils: gap filling, entailment, grammaticality, similarity, plausibility."""
