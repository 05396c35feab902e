"""Why a case was missed: what the verdict depends on, found by changing one part of the image or text at a time."""
