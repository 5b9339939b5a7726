"""Mapping tables: what each torch API becomes, by MindSpore release and device, with proof."""
