"""Updates without an optimizer: what is moved is found by what is done with it."""


def scaled_step(things, rate):
    for thing in things:
        if thing.grad is not None:
            thing.data.sub_(rate * thing.grad)
            thing.grad.zero_()


def total_norm(things):
    return sum(thing.grad.norm().item() ** 2 for thing in things if thing.grad is not None) ** 0.5
