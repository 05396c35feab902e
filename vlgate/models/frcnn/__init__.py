"""The Visual Genome Faster R-CNN of bottom-up attention, as LXMERT uses it (Anderson et al., CVPR 2018)."""
