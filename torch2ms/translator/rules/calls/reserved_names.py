"""Names that ``nn.Cell`` keeps for itself: ``self.cells`` becomes ``self.cells_`` everywhere.

So do methods that Cell has and calls itself: a network's own ``get_parameters`` would be asked for its weights.
"""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.values.families import REGISTERING
from torch2ms.translator.values.kinds import candidates

__all__ = ["METHODS", "RESERVED", "free_name", "is_free", "is_own_method", "rename_call"]

# Attributes that Cell sets on itself, in any release, and PyTorch's Module does not know; a test asks the one installed
_OWN = frozenset(
    """_amp_level _attr_synced _auto_prefix _backward_hook _bprop_debug _cell_tag _cells _compile_cache _compiled
    _construct_sig _create_time _exist_names _exist_objs _forward_hook _forward_pre_hook _id _in_strategy _init_flag
    _jit_config_dict _out_strategy _param_prefix _params _params_list _phase _phase_cache _primitives _recompute_cell
    _cell_backward_hook _cell_backward_pre_hook _compile_phase _dynamic_shape_inputs _has_config_recompute
    _has_mutable_args_list _is_check_and_refresh _is_recursion_hook _jit_graph_name _lazy_backward_hook
    _lazy_backward_pre_hook _lazy_construct_sig _lazy_forward_hook _lazy_forward_hook_always_called
    _lazy_forward_hook_with_kwargs _lazy_forward_pre_hook _lazy_forward_pre_hook_with_kwargs
    _lazy_load_state_dict_post_hooks _lazy_load_state_dict_pre_hooks _lazy_non_persistent_buffers_set
    _lazy_state_dict_hooks _lazy_state_dict_pre_hooks _lazy_user_parameters _parallel_parameter_merge_net_dict
    _parallel_parameter_name_list _parameter_layout_dict _saved_tensors_pack_hook _saved_tensors_unpack_hook
    _scope _shard_fn _tensor_list _user_parameters arguments_key bprop_debug cell_init_args cell_type compile_cache
    compile_phase compiled create_time exist_names exist_objs grad_ops_label has_bprop is_top_cell jit_config_dict
    mixed_precision_type phase_cache pipeline_segment pipeline_stage pynative saved_dynamic_shape
    to_float_fp16""".split()
)
RESERVED = _OWN | {"apply", "cells", "cls_name", "construct", "param_prefix", "phase", "register_buffer"}
# Methods of Cell that MindSpore, or what is emitted, calls on a network, its layers or their base class
METHODS = frozenset(
    """_add_attr _add_init_args _add_mixed_precision_flag _call_custom_bprop _call_post_process _call_pre_process
    _check_construct_args _check_parameter_consistency _children_scope_recursive _complex_call _get_cell_parallel_mode
    _get_compile_args _get_prims_recursively _init_check _mp_comm_recompute _predict _recompute
    _recompute_slice_activation _run_construct _run_forward_hook _run_forward_pre_hook _run_grad_construct _self_check
    _set_attr_for_cell _set_attr_for_object _set_attr_for_param_or_param_tuple _set_attr_for_params
    _set_recompute_scope _set_scope add_flags add_flags_recursive cast_inputs cells_and_names check_names
    check_names_and_refresh_name compile_and_run extend_repr generate_scope get_flags get_func_graph_proto get_inputs
    get_parameters get_scope get_sub_cell init_parameters_data insert_child_to_cell insert_param_to_cell name_cells
    parameters_and_names parameters_broadcast_dict parameters_dict recompute register_parameter_forward_hook
    run_construct set_broadcast_flag set_comm_fusion set_data_parallel set_grad set_inputs set_jit_config set_train
    shard to_float trainable_params untrainable_params update_cell_prefix update_cell_type
    update_parameters_name""".split()
)


def is_free(key: str, name: str, ctx: Context) -> bool:
    """Whether a class of the project sets an attribute of this name on ``self`` alone, so that it can be renamed."""
    if name in METHODS:
        return is_own_method(ctx.world.method(key, name), ctx)
    bases = [base for base in ctx.world.ancestry(key) if ":" in base]
    if not any(name in ctx.world.attributes(base) for base in bases):
        return False
    return ctx.world.method(key, name) is None and not ctx.world.constant(key, name).known


def is_own_method(key: str | None, ctx: Context) -> bool:
    """Whether a method of the project is one that Cell has as well: written as a function of a network's class."""
    info = ctx.world.function(key) if key is not None else None
    if info is None or info.owner is None or info.name not in METHODS or isinstance(info.node, ast.Lambda):
        return False
    plain = all(ast.unparse(mark) in ("staticmethod", "classmethod") for mark in info.node.decorator_list)
    return plain and ctx.world.family(info.owner.key).name == "Module"


def free_name(tree: ast.Attribute, ctx: Context) -> str | None:
    """Return the new name of an attribute that Cell has itself; None for all others."""
    if tree.attr not in RESERVED and tree.attr not in METHODS:
        return None
    base = ctx.kind(tree.value)
    keys = [key for key in candidates(base) if ":" in key] if base.name == "Module" else []
    if keys and all(is_free(key, tree.attr, ctx) for key in keys):
        return f"{tree.attr}_"
    if tree.attr in METHODS:
        untyped = (
            not base.known and ctx.world.symbols.definers(tree.attr) and ctx.world.evidence.is_free(tree.attr, "Module")
        )
        return f"{tree.attr}_" if untyped else None
    if not base.known and tree.attr not in ("apply", "register_buffer") and ctx.world.symbols.stores(tree.attr):
        message = (
            f"{ast.unparse(tree.value)} could not be typed; .{tree.attr} has another name on the project's networks"
        )
        ctx.report("T2M207", tree, message, symbol=f"torch.nn.Module.{tree.attr}")
    return None


def rename_call(updated: cst.Call, tree: ast.Call, ctx: Context) -> cst.Call:
    """Return a call of such an attribute, or one that gives a part its name as a string: ``add_module("cells", x)``."""
    if not isinstance(tree.func, ast.Attribute) or not isinstance(updated.func, cst.Attribute):
        return updated
    new = free_name(tree.func, ctx) if tree.func.attr in RESERVED | METHODS else None
    if new is not None:
        return updated.with_changes(func=updated.func.with_changes(attr=cst.Name(new)))
    name = tree.args[0] if tree.args else None
    if tree.func.attr not in REGISTERING or not isinstance(name, ast.Constant) or name.value not in RESERVED:
        return updated
    keys = [key for key in candidates(ctx.kind(tree.func.value)) if ":" in key]
    literal = updated.args[0].value
    if not keys or not isinstance(literal, cst.SimpleString) or not all(is_free(k, name.value, ctx) for k in keys):
        return updated
    first = updated.args[0].with_changes(value=literal.with_changes(value=f"{literal.value[:-1]}_{literal.value[-1]}"))
    return updated.with_changes(args=[first, *updated.args[1:]])
