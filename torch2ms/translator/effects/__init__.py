"""Effects: what code reads, writes and shares."""
