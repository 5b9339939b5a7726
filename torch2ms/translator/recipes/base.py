"""What a recipe needs, in one import."""

from torch2ms.translator.call_site import RECIPES, CallSite, Leave, Outcome, Recipe, Replace, recipe

__all__ = ["RECIPES", "CallSite", "Leave", "Outcome", "Recipe", "Replace", "recipe"]
