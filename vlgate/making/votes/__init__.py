"""Human validation: which of two texts describes the image, asked of people as in VALSE (Parcalabescu et al. 2022).

A set of cases becomes a form or a file for crowdsourcing (``form``); what people answered is read back, and the cases
that two of three voters find valid are kept (``outcome``).
"""
