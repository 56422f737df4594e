"""Scaled dot-product attention."""

import math

import mindspore as ms
import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine.kernel import kernel, on_cpu
from msadapter.pytorch._engine.native import dtype_of, shape_of
from msadapter.pytorch._ops.casting import cast
from msadapter.pytorch._ops.dropout import dropout
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.softmax import shifted, softmax_gradient

_HALVES = frozenset((_dtype.float16, _dtype.bfloat16))


@kernel(reason="MindSpore's softmax has no second derivative", saves=("out",))
def _weights_array(scores):
    result = shifted(scores, -1)
    np.exp(result, out=result)
    result /= result.sum(-1, keepdims=True)
    result[(scores == -np.inf).all(-1)] = 0
    return result


@_weights_array.gradient
def _(ctx, grad):
    return softmax_gradient(grad, ctx.saved[0], -1)


@on_cpu(_weights_array)
def _weights(scores):
    """softmax over the last dimension, 0 for a query that sees no key."""
    hidden = (scores == -math.inf).all(-1, True)
    return ms.mint.nn.functional.softmax(scores.masked_fill(hidden, 0), -1).masked_fill(hidden, 0)


def _check(query, key, value, attn_mask, is_causal):
    tensors = query, key, value
    ranks = [len(shape_of(t)) for t in tensors]
    if min(ranks) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
            f"{ranks[0]} key.dim: {ranks[1]} and value.dim: {ranks[2]} instead."
        )
    if not dtype_of(query) is dtype_of(key) is dtype_of(value):
        names = [_dtype.name_of(t.dtype) for t in tensors]
        raise RuntimeError(
            f"Expected query, key, and value to have the same dtype, but got query.dtype: {names[0]} key.dtype: {names[1]} "
            f"and value.dtype: {names[2]} instead."
        )
    if not query.dtype.is_floating_point:
        raise RuntimeError(f"expected scalar type Float but found {_dtype.SCALAR_NAMES[query.dtype]}")
    if attn_mask is None:
        return
    if attn_mask.dtype not in (_dtype.bool, _dtype.float32, query.dtype):
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
            f"{_dtype.name_of(attn_mask.dtype)} and  query.dtype: {_dtype.name_of(query.dtype)} instead."
        )
    if is_causal:
        raise RuntimeError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
        )


def _shared_by_groups(query, key, value):
    """Key and value with each head repeated for the group of query heads that share it."""
    heads, own, others = shape_of(query)[-3], shape_of(key)[-3], shape_of(value)[-3]
    if heads % own or heads % others:
        raise RuntimeError(
            "Number of heads in key and value must divide the number of heads in query. Received: "
            f"{own} and {others} for {heads}"
        )
    return tuple(t.repeat_interleave(heads // n, dim=-3) for t, n in ((key, own), (value, others)))


def _causal(query, key):
    """Which key each query may see: those up to its own place."""
    rows, columns = shape_of(query)[-2], shape_of(key)[-2]
    return query.new_tensor(np.tri(rows, columns, dtype=bool), dtype=_dtype.bool)


@op(namespace="torch.nn.functional", method=False, out=False, kernel=_weights_array)
def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False
):
    """`softmax(query @ key^T * scale + mask) @ value`: [..., L, E] with [..., S, E] and [..., S, V] gives [..., L, V].

    Args:
        attn_mask: broadcasts to [..., L, S]; bool (True: the key is seen) or added to the scores.
        dropout_p: dropout of the weights, always active.
        is_causal: each query sees the keys up to its own place.
        scale: by default 1 / sqrt(E).
        enable_gqa: fewer heads (dimension -3) of key and value, each shared by a group of query heads.
    A query that sees no key gives 0. Raises RuntimeError where shapes or dtypes do not fit.
    """
    _check(query, key, value, attn_mask, is_causal)
    dtype = query.dtype
    if dtype in _HALVES:
        query, key, value = (cast(t, _dtype.float32) for t in (query, key, value))
    if enable_gqa:
        key, value = _shared_by_groups(query, key, value)
    if scale is None:
        size = shape_of(query)[-1]
        scale = 1 / math.sqrt(size) if size else 0.0
    scores = (query * scale) @ key.transpose(-2, -1)
    if is_causal:
        attn_mask = _causal(query, key)
    if attn_mask is not None:
        if attn_mask.dtype == _dtype.bool:
            scores = scores.masked_fill(~attn_mask, -math.inf)
        else:
            scores = scores + cast(attn_mask, scores.dtype)
    weights = _weights(scores)
    if dropout_p:
        weights = dropout(weights, dropout_p)
    return cast(weights @ value, dtype)
