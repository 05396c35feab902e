"""Results for Allure: the gates, then the cases of each task, by benchmark, capability and task."""
