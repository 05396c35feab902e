"""Questions of dialogs about images: what their pronouns stand for, and whether their answers can be relied on."""
