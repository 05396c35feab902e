"""Sets of cases: made of captions, dialogs, frames and graphs, voted on, or joined with recorded replies; never guessed."""
