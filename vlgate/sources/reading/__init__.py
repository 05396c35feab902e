"""Reading files: JSON, records, archives, and the images that records name."""
