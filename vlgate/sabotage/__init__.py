"""Models that are broken on purpose, each with the gates that an intact model of its kind passes."""
