"""Write the plans of training steps on the rewritten statements."""
