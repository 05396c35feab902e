"""The templates of the seven types of question (CARETS, section 4.1): 54, 18, 18, 25, 25, 39 and 28."""
