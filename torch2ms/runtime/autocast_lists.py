"""Which of MindSpore's operators ``torch.autocast`` computes in half precision, and which in float32.

PyTorch keeps a list for accelerators and one for CPUs ("Automatic Mixed Precision package", op-specific behaviour;
ATen/autocast_mode.h and autocast_mode.cpp of 2.13). Here stand the operators of MindSpore that compute the same, by the
names of their primitives, classic and ``mint``. What is in neither list computes in the widest type of its inputs.

One departure: on a CPU PyTorch has ``exp``, ``log``, ``square`` and ``log_softmax`` in half precision, and losses in
float32. MindSpore's losses are made of these operators, so that all of them are float32 here.
"""

from __future__ import annotations

from typing import List, Tuple

__all__ = ["Entries", "lists"]

Entries = List[Tuple[str, List[int]]]  # the name of a primitive, and which of its arguments are cast: none is all

# BiasAdd is the second half of a layer that is one operator in PyTorch.
_LOW = """
    Conv2D Conv3D Conv1DExt Conv2DExt Conv3DExt Conv1DPadding Conv2DPadding Conv3DPadding Convolution ConvolutionStr
    ConvTbc Conv2DTranspose Conv2DBackpropInput Conv3DTranspose ConvTranspose2D MatMul MatMulExt Mm BatchMatMul
    BatchMatMulExt Dense BiasAdd Einsum EinsumExt PReLU Addmm Addbmm Baddbmm FlashAttentionScore
""".split()
_LOW_OF_ACCELERATORS = "Mv Addmv".split()

_WIDE = """
    SmoothL1Loss BCEWithLogitsLoss BinaryCrossEntropy KLDivLoss KLDiv L1LossExt MSELossExt NLLLoss NLLLoss2d
    MultilabelMarginLoss SoftMarginLoss TripletMarginLoss MultiMarginLoss ReduceProd ProdExt Cdist Exp Log
    LogSoftmax LogSoftmaxExt Square
""".split()
_WIDE_OF_ACCELERATORS = """
    Pow PowTensorScalar PowScalarTensor ACos AcosExt Asin AsinExt Cosh Erfinv Expm1 Log10 Log1p Log2 Reciprocal
    Rsqrt Sinh Tan Softplus SoftplusExt LayerNorm LayerNormExt LayerNormV3 RmsNorm GroupNorm Norm LpNorm LpNormV2
    LinalgVectorNorm Pdist Renorm Softmax CumProd CumSum CumsumExt ReduceSum SumExt LogSumExp UpsampleNearest1D
    UpsampleNearest2D UpsampleNearest3D UpsampleLinear1D UpsampleBilinear2D UpsampleBicubic2D UpsampleTrilinear3D
    ResizeLinear1D ResizeBilinearV2 ResizeBicubic ResizeNearestNeighbor ResizeNearestNeighborV2
""".split()


def lists(on_cpu: bool) -> Tuple[Entries, Entries]:
    """Return the operators of half precision, and those of float32, as MindSpore's strategies take them."""
    low = _LOW if on_cpu else _LOW + _LOW_OF_ACCELERATORS
    wide = _WIDE if on_cpu else _WIDE + _WIDE_OF_ACCELERATORS
    return [(name, []) for name in low], [(name, []) for name in wide]
