"""The number of threads, set from an argument and read again."""

import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--threads", type=int, default=3)
args = parser.parse_args([])
torch.set_num_threads(args.threads)
print(torch.get_num_threads())
threads = max(1, torch.get_num_threads() // 2)
torch.set_num_threads(threads)
print(f"{torch.get_num_threads()} threads")
