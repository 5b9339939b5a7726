"""Calls: a torch call becomes what its row says, or what a rule makes of it."""
