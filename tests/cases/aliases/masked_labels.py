import torch


def hide(labels, share):
    hidden = labels.reshape(labels.shape)
    hidden[: int(share * len(labels))] = -100
    return labels


print(hide(torch.arange(8), 0.5).tolist())
steps = torch.zeros(3)
moved = steps.cpu()
moved[1] = 4
print(steps.tolist())
