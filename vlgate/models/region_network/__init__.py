"""Region features of a small network of crops, for models that are trained with one of their own."""
