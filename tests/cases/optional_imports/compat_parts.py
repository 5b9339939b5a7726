"""What differs between releases of PyTorch."""
try:
    from torch.optim.lr_scheduler import LRScheduler
except ImportError:
    from torch.optim.lr_scheduler import _LRScheduler as LRScheduler

try:
    from torch.utils.data import Dataset, default_collate
except ImportError:
    from torch.utils.data import Dataset
    from torch.utils.data.dataloader import default_collate

try:
    import xformers.ops as xops
    XFORMERS = True
except ImportError:
    xops = None
    XFORMERS = False

__all__ = ["Dataset", "LRScheduler", "XFORMERS", "default_collate"]
