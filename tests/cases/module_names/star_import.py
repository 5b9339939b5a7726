"""A star takes everything that a module binds."""

from fitted_parts import *  # noqa: F403

print(hidden.shape == torch.Size([3, 3]), logits.argmax(1).tolist(), round(loss.item(), 4))  # noqa: F405
