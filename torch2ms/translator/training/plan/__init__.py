"""Plan the rewriting of training steps, on the analysed tree, without changing anything."""
