"""The training loop as MindSpore's guides write it."""

import mindspore as ms
from mindspore import nn


def train_with_adam(network, loader, times, losses, clock):
    """Train on every batch of ``loader``; note seconds and loss of each step."""
    optimizer = nn.Adam(network.trainable_params(), learning_rate=0.001, weight_decay=1e-5)
    loss_fn = nn.CrossEntropyLoss()
    network.set_train()

    def forward_fn(data, label):
        logits = network(data)
        return loss_fn(logits, label), logits

    grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters, has_aux=True)

    def train_step(data, label):
        (loss, _), grads = grad_fn(data, label)
        optimizer(grads)
        return loss

    for data, label in loader:
        start = clock()
        loss = train_step(data, label)
        losses.append(float(loss.asnumpy()))
        times.append(clock() - start)
