"""Models behind a chat-completions endpoint."""
