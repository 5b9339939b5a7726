"""Tensors that are trained without an optimizer, as textbooks do: by loops over them, and by a function of one's own."""

import torch


def linreg(X, w, b):
    return torch.matmul(X, w) + b


def squared_loss(y_hat, y):
    return (y_hat - y.reshape(y_hat.shape)) ** 2 / 2


def sgd(params, lr, batch_size):
    """Minibatch stochastic gradient descent."""
    with torch.no_grad():
        for param in params:
            param -= lr * param.grad / batch_size
            param.grad.zero_()


def descend(params, lr=0.1):
    for p in params:
        p.data.sub_(lr * p.grad)


def loops(X, y):
    w1 = torch.tensor([[0.1, 0.2], [0.3, 0.4]], requires_grad=True)
    w2 = torch.tensor([[0.5], [-0.5]], requires_grad=True)
    for _ in range(3):
        loss = (X.mm(w1).clamp(min=0).mm(w2) - y).pow(2).sum(); loss.backward()
        with torch.no_grad():
            for p in (w1, w2):
                p -= 0.01 * p.grad
                p.grad = None
        print(f"{loss.item():.4f}", w1.tolist())


def named(X, y):
    w = torch.tensor([[1.0], [-2.0]], requires_grad=True)
    b = torch.zeros(1, requires_grad=True)
    params = [w, b]
    for _ in range(3):
        loss = ((X @ w + b - y) ** 2).mean()
        for p in params: p.grad = None
        loss.backward()
        descend(lr=0.01, params=params)
        for p in params:
            p.data = p.data - 0.1 * p.grad
        print(f"{loss.item():.4f}", w.tolist(), b.tolist())


X = torch.tensor([[1.0, 2.0], [0.5, -1.0], [2.0, 0.0]])
y = torch.tensor([[1.0], [2.0], [3.0]])
w = torch.full((2, 1), 0.1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
for epoch in range(3):
    l = squared_loss(linreg(X, w, b), y)
    l.sum().backward()
    sgd([w, b], 0.03, 3)
    with torch.no_grad():
        print(f"{squared_loss(linreg(X, w, b), y).mean().item():.4f}")
loops(X, y)
named(X, y)
z = torch.tensor([1.0, 2.0], requires_grad=True)
u = z * 2; v = u * z
v.sum().backward()
print(z.grad)
