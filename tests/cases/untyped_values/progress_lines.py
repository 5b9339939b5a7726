"""Lines of progress made of counters, clocks and losses together, in every way of formatting."""
import torch


def report(epoch, values):
    row = [epoch]
    row.extend(values)
    print("{:<4d}{:>9.4f}{:>9.4f}".format(*row))
    print("epoch %3d loss %.3f acc %.1f%%" % tuple(row))
    print(" ".join(f"{v:8.3f}" for v in row))
    return dict(zip(("epoch", "loss", "accuracy"), row))


def best_of(history, key):
    best = None
    for entry in history:
        if best is None or entry[key] < best:
            best = entry[key]
    return best


history = []
for epoch in range(3):
    loss = torch.tensor([1.0, 2.0]).mean() / (epoch + 1)
    history.append(report(epoch, [loss, torch.tensor(50 + epoch)]))
print(f"best {best_of(history, 'loss'):.2e} at {best_of(history, 'epoch'):>2}")
print("{epoch:d}: {loss:.2f}".format(**history[-1]))
template = "{0:>3} {1:>+8.2f}"
print(template.format(*[history[0]["epoch"], history[0]["loss"]]))
summary = {"steps": 7, "loss": torch.tensor(0.125), "name": "run"}
for name, value in summary.items():
    print(f"{name:>6}: {value:>6}")
