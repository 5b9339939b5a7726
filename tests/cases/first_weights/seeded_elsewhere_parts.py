import random

import numpy


def seed_everything(seed):
    random.seed(seed)
    numpy.random.seed(seed)


def shuffled(items):
    numpy.random.shuffle(items)
    random.shuffle(items)
    return items
