"""Models whose image input is region features: LXMERT and VisualBERT."""
