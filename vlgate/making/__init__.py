"""Makes sets of cases from captions, dialogs, role frames and graphs: checked, balanced, near chance when blind.

Also people's votes on such sets, and what other harnesses recorded, joined with planned cases. It never guesses: what
does not fit is left out and counted by reason. No run imports it.
"""
