"""The commands, grouped by purpose; `app.MODULES` maps names to modules."""
