"""Datasets of images in the files that torchvision leaves on disk, by the shape of those files.

``arrays``: images in memory (idx, pickles, text, MATLAB); ``folders``: a folder a class; ``lists``: files named by a
list; ``annotated``: images with more than a label. Programs use them as :mod:`torch2ms.runtime.datasets`.
"""
