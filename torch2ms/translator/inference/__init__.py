"""Inference: the kind of every expression, by flow inside functions and by demand across the files of a project."""

from torch2ms.translator.inference.world import ClassInfo, FileAnalysis, FunctionInfo, World

__all__ = ["ClassInfo", "FileAnalysis", "FunctionInfo", "World"]
