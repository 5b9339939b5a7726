"""Where the harvest of catalogues looks, and in which order. Python 3.9 syntax."""

from __future__ import annotations


def words(text: str) -> list[str]:
    """Return the words of a text."""
    return text.split()


# Canonical names are chosen by this order: the first namespace that has an object names it.
TORCH_NAMESPACES = words("""
torch.Tensor torch.autograd.Function torch.nn.functional torch torch.nn torch.nn.init torch.nn.utils
torch.nn.utils.rnn torch.nn.utils.prune torch.nn.utils.parametrize torch.nn.utils.parametrizations torch.nn.parallel
torch.nn.attention torch.optim torch.optim.lr_scheduler torch.optim.swa_utils torch.utils.data
torch.utils.data.distributed torch.utils.checkpoint torch.utils.model_zoo torch.utils.cpp_extension torch.utils.dlpack
torch.utils.tensorboard torch.utils.bottleneck torch.utils.mobile_optimizer torch.hub torch.cuda torch.cuda.amp
torch.amp torch.autograd torch.autograd.functional torch.autograd.profiler torch.autograd.graph
torch.autograd.forward_ad torch.backends torch.backends.cudnn torch.backends.cuda torch.backends.mps
torch.backends.mkldnn torch.backends.openmp torch.distributed torch.distributed.optim torch.distributed.fsdp
torch.distributed.rpc torch.distributed.elastic.multiprocessing.errors torch.distributed.algorithms.join
torch.distributed.device_mesh torch.distributed.checkpoint torch.distributions torch.distributions.constraints
torch.distributions.kl torch.distributions.transforms torch.distributions.utils torch.fft torch.linalg torch.special
torch.sparse torch.jit torch.onnx torch.multiprocessing torch.profiler torch.random torch.fx torch.func torch.masked
torch.nested torch.signal.windows torch.testing torch.overrides torch.package torch.serialization torch.storage
torch.types torch.version torch.export torch.compiler torch.mps torch.xpu torch.cpu torch.mtia torch.futures
torch.library torch.monitor torch.ao.quantization torch.ao.nn.quantized torch.ao.nn.qat torch.ao.nn.intrinsic
torch.ao.nn.quantized.functional torch.quantization torch.quasirandom torch.return_types
""")
# Searched through all their public submodules: other spellings, and what is defined only there.
TORCH_DEEP = words("torch.nn torch.optim torch.utils.data torch.distributions torch.autograd torch.cuda torch.amp")
TORCH_ALSO = words("torch.functional torch.random torch.serialization torch.utils torch.nn.grad torch.utils.hooks")
# Private names that real programs import.
TORCH_PRIVATE = words("""
torch.nn.modules.batchnorm._BatchNorm torch.nn.modules.batchnorm._NormBase torch.nn.modules.conv._ConvNd
torch.nn.modules.conv._ConvTransposeNd torch.nn.modules.instancenorm._InstanceNorm torch.nn.modules.loss._Loss
torch.nn.modules.loss._WeightedLoss torch.nn.modules.dropout._DropoutNd torch.nn.modules.utils._single
torch.nn.modules.utils._pair torch.nn.modules.utils._triple torch.nn.modules.utils._quadruple
torch.nn.modules.utils._ntuple torch.nn.modules.utils._reverse_repeat_tuple torch.optim.lr_scheduler._LRScheduler
torch.nn.init._calculate_fan_in_and_fan_out torch.nn.init._calculate_correct_fan torch.nn.init._no_grad_trunc_normal_
torch.nn.modules.module._IncompatibleKeys torch.nn.functional._Reduction
torch.utils.data.dataloader._BaseDataLoaderIter torch._assert
""")
MINDSPORE_NAMESPACES = words("""
mindspore.Tensor mindspore.dataset.GeneratorDataset mindspore mindspore.nn mindspore.ops mindspore.mint
mindspore.mint.nn mindspore.mint.nn.functional mindspore.mint.optim mindspore.mint.linalg mindspore.mint.special
mindspore.mint.distributed mindspore.numpy mindspore.scipy mindspore.scipy.linalg mindspore.common.initializer
mindspore.experimental.optim mindspore.experimental.optim.lr_scheduler mindspore.dataset mindspore.dataset.vision
mindspore.dataset.transforms mindspore.dataset.samplers mindspore.dataset.text mindspore.dataset.audio
mindspore.dataset.engine mindspore.communication mindspore.communication.comm_func mindspore.communication.management
mindspore.amp mindspore.train mindspore.train.callback mindspore.nn.probability.distribution
mindspore.nn.probability.bijector mindspore.nn.utils mindspore.runtime mindspore.hal mindspore.device_context.cpu
mindspore.device_context.gpu mindspore.device_context.ascend mindspore.device_manager mindspore.utils
mindspore.ops.operations mindspore.ops.functional mindspore.ops.communication mindspore.parallel mindspore.profiler
mindspore.graph mindspore.boost mindspore.rewrite mindspore.mindrecord mindspore.common.parameter
mindspore.common.dtype mindspore.nn.learning_rate_schedule mindspore.nn.dynamic_lr mindspore.context
mindspore.autograd
""")
PRIVATE_MINDSPORE = words("mindspore._no_grad mindspore.nn.learning_rate_schedule.LearningRateSchedule")
OPERATORS = frozenset(
    f"__{name}__"
    for name in words("""
abs add and array bool contains float floordiv getitem iadd imul index int invert isub iter itruediv len lshift matmul
mod mul neg or pow radd rmatmul rmul rpow rshift rsub rtruediv setitem sub truediv xor
""")
)
# Members every class has or overrides without changing what they mean for a caller.
BASE_CLASSES = ("torch.nn.Module", "torch.autograd.Function", "mindspore.nn.Cell")
INSTANCES = ("torch.nn.Module", "mindspore.nn.Cell")
UNLISTED_MEMBERS = frozenset(words("forward construct extra_repr extend_repr reset_parameters"))
# What a docstring says about the API itself, called NAME, not about one of its arguments.
DEPRECATED = (
    r"(?:th(?:is|e) (?:\w+\s)?(?:api|interface|class|function|method|operator)\s(?:[\w`]+\s){0,2}?"
    r"|['`][\w.]*\bNAME['`]\s)"
    r"(?:is|will be|has been)\s(?:planned to be\s)?deprecated|deprecated::|Supported Platforms:\s*`*Deprecated"
)
LETTERS = (("Ascend", "a"), ("GPU", "g"), ("CPU", "c"))
