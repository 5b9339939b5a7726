"""Networks for pictures that programs ask for by name, one module a family; ``vision_models`` brings them together.

Written natively after the papers. Children carry the names that torchvision gives them, so programs find ``fc``,
``classifier[1]`` or ``heads.head``, and trained weights can be converted (``torch2ms convert-weights``).
"""
