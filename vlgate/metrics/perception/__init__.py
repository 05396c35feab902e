"""Thresholds of perception: the faculties, the psychometric function, and what is known of a threshold."""
