"""A table of the layers of a network."""

from torch import nn

from described_parts import Encoder, describe

for line in describe(Encoder()):
    print(line)
print(nn.Dropout1d(0.2).p, nn.Dropout3d(0.4).p, nn.Dropout(0.1).p, nn.Dropout2d().p)
print(nn.MSELoss().reduction, nn.MSELoss(reduction="sum").reduction, nn.L1Loss(reduction="none").reduction)
print(nn.GRU(2, 3).mode, nn.LSTM(2, 3).mode, nn.RNN(2, 3, nonlinearity="relu").mode, nn.Unflatten(1, (2, 3)).dim)
