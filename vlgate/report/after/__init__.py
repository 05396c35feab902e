"""What the commands that read a finished run print, draw and write."""
