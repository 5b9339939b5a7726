import torch


def unchanged(x):
    return x.positive()


def scale_rows(matrix, factor):
    rows = matrix.expand_as(matrix)
    rows.mul_(factor)
    return rows
