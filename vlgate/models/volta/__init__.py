"""VOLTA's controlled models (ViLBERT, LXMERT, UNITER, VL-BERT, VisualBERT) and ViLBERT 12-in-1, as one encoder.

No maintained library has them. Weights are read from the files that their authors published; the arithmetic is here,
as functions on named tensors. The way of a request: ``sources`` (which file and configuration), ``config``, ``names``
and ``weights`` (what must be in it), ``embeddings``, ``encoder``, ``heads``, ``adapter``.
"""
