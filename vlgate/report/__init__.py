"""The reports of a run: its files, the table in the terminal, the summary page and Allure results."""
