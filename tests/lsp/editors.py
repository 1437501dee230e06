"""Real editors, headless; each case says that it was skipped where the editor is not installed."""
