"""A script without anything else of torch: a layer goes through pickle."""

import pickle

from torch import nn

layer = nn.Linear(2, 3)
again = pickle.loads(pickle.dumps(layer))
print(again.weight.shape[0], again.out_features, type(again) is type(layer))
protocols = [len(pickle.dumps(layer, protocol)) > 0 for protocol in (2, 3, 4)]
print(protocols)
