"""VOLTA's controlled models (ViLBERT, LXMERT, UNITER, VL-BERT, VisualBERT) and ViLBERT 12-in-1, as one encoder.

No maintained library has them. Weights come from the files that their authors published; the arithmetic is here, as
functions on named tensors. To load a model: ``sources`` (which file and configuration) and ``config`` (what a
checkpoint must hold). To score a request: ``adapter`` and ``encoder``.
"""
