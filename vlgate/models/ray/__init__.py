"""A model on the actors of an existing Ray cluster: its calls, its images and its errors cross the border."""
