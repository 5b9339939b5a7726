"""Training units: every backward call with its forward pass and update: found, planned, written."""
