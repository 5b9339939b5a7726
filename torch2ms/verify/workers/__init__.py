"""Code that runs inside the compared processes: one side imports torch, the other mindspore, neither torch2ms.

The parent loads this folder under another package name (see ``torch2ms.verify.process``), so that a worker can run in a
Python that has no torch2ms installed, and so that nothing here can hide a module of the user's project.
"""
