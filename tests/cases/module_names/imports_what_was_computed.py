"""Reads names of a module that trains when it is imported: a prediction, a loss, a gradient's way."""

import fitted_parts
from fitted_parts import leaf, logits, total

print([round(v, 3) for v in logits.flatten().tolist()], round(fitted_parts.loss.item(), 4))
print(tuple(fitted_parts.hidden.shape), round(total.item(), 3), fitted_parts.square.tolist(), leaf.tolist())
