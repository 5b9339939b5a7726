"""Find what belongs to a training step: events, scopes, gradients and who reads them."""
