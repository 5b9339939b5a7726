"""Training units: every backward call with its forward pass and update, as a plan for the emitter.

``find_parts`` is the way in; ``plan.py`` describes what it returns.
"""

from __future__ import annotations

from torch2ms.translator.training.finding import find_parts, find_units, results_of
from torch2ms.translator.training.plan import (
    Clip,
    GradientMode,
    Oracle,
    Place,
    RecordedCall,
    ScalerCall,
    Shape,
    Step,
    TrainingUnit,
    UnitLeft,
)

__all__ = [
    "Clip",
    "GradientMode",
    "Oracle",
    "Place",
    "RecordedCall",
    "ScalerCall",
    "Shape",
    "Step",
    "TrainingUnit",
    "UnitLeft",
    "find_parts",
    "find_units",
    "results_of",
]
