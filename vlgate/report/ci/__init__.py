"""What a run leaves for people and jobs that decide: may the model be released?"""
