"""The two sides of a proof: stand-alone (Python 3.9, numpy and one framework), so that any MindSpore can run them.

``prove`` copies this folder and the runtime into a temporary one and starts ``python -m proving`` there.
"""
