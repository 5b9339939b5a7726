# The lists are joined where the optimizer is made, in a function that is given nothing.
import torch


def main():
    a = torch.full((3,), 0.5, requires_grad=True)
    b = torch.full((3,), -0.5, requires_grad=True)
    c = torch.full((3,), 0.1, requires_grad=True)
    outer = [a, b]
    inner = [b, c]
    up = torch.optim.RMSprop([*outer], lr=0.01)
    down = torch.optim.RMSprop([*outer, c], lr=0.01)
    x = torch.arange(3.0)
    for step in range(3):
        up.zero_grad()
        loss = (a * x + b - 1).pow(2).sum()
        loss.backward()
        up.step()
        down.zero_grad()
        other = (a * x * x + b * x + c).pow(2).sum()
        other.backward()
        down.step()
        print(f"{loss.item():.4f} {other.item():.4f}", len(inner))


main()
