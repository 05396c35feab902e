"""Does the picture arrive as it is, and do answers survive changes that nobody sees?

``flips`` asks the cases of a run again about re-encoded and slightly changed images (arXiv 2511.11206 measures such
flips). ``diagnosing`` asks about drawn pictures, the canaries, whose content no text gives away, and names the fault of
a pipeline from the pattern of the replies.
"""
