"""The dtype of new tensors, the search for anomalies, and warnings."""

import torch

print(torch.get_default_dtype() == torch.float32, torch.is_anomaly_enabled(), torch.is_warn_always_enabled())
torch.autograd.set_detect_anomaly(True)
torch.set_warn_always(True)
print(torch.is_anomaly_enabled(), torch.is_warn_always_enabled())
