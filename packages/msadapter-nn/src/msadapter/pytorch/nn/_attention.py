"""multi_head_attention_forward: what MultiheadAttention and the Transformer compute."""

import math
import warnings

from msadapter import pytorch as torch
from msadapter.pytorch._tensor import Tensor
from msadapter.pytorch.nn import functional as F

_NO_CAUSAL_MASK = (
    "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
    "`generate_square_subsequent_mask` to create this mask."
)


def _canonical_mask(mask, mask_name, other_type, other_name, target_type, check_other=True):
    """A mask as numbers to be added: a bool mask becomes -inf where it is True."""
    if mask is None:
        return None
    if mask.is_floating_point():
        is_bool = False
    elif mask.dtype == torch.bool:
        is_bool = True
    else:
        raise AssertionError(
            f"only bool and floating types of {mask_name} are supported. Received: {mask.dtype}"
        )
    if check_other and other_type is not None and mask.dtype != other_type:
        warnings.warn(
            f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type for both instead.",
            stacklevel=3,
        )
    if not is_bool:
        return mask
    return torch.zeros(mask.shape, dtype=target_type).masked_fill_(mask, float("-inf"))


def _none_or_dtype(input):
    if input is None:
        return None
    if isinstance(input, Tensor):
        return input.dtype
    raise RuntimeError("input to _none_or_dtype() must be None or torch.Tensor")


def multi_head_attention_forward(
    query,
    key,
    value,
    embed_dim_to_check,
    num_heads,
    in_proj_weight,
    in_proj_bias,
    bias_k,
    bias_v,
    add_zero_attn,
    dropout_p,
    out_proj_weight,
    out_proj_bias,
    training=True,
    key_padding_mask=None,
    need_weights=True,
    attn_mask=None,
    use_separate_proj_weight=False,
    q_proj_weight=None,
    k_proj_weight=None,
    v_proj_weight=None,
    static_k=None,
    static_v=None,
    average_attn_weights=True,
    is_causal=False,
):
    """Attention in `num_heads` heads, with the projections before and after it.

    Shapes: query (L, N, E), key and value (S, N, E), without N for unbatched input; output (L, N, E), weights
    (N, L, S) or (N, num_heads, L, S), None unless `need_weights`.
    """
    is_batched = _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not is_batched:
        query, key, value = (t.unsqueeze(1) for t in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    length, batch, features = query.shape
    _check_sizes(query, key, value, embed_dim_to_check, num_heads, use_separate_proj_weight)
    key_padding_mask = _canonical_mask(
        key_padding_mask, "key_padding_mask", _none_or_dtype(attn_mask), "attn_mask", query.dtype
    )
    if is_causal and attn_mask is None:
        raise RuntimeError(_NO_CAUSAL_MASK)
    # The hint stands for the mask only where nothing is to be added to it.
    is_causal = is_causal and key_padding_mask is None and not need_weights
    if is_causal:
        attn_mask = None
    attn_mask = _canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, check_other=False)
    attn_mask = _mask_by_head(attn_mask, batch * num_heads, length, key.shape[0])

    if use_separate_proj_weight:
        q, k, v = _project_separately(
            query, key, value, (q_proj_weight, k_proj_weight, v_proj_weight), in_proj_bias
        )
    else:
        q, k, v = _project_packed(query, key, value, in_proj_weight, in_proj_bias)
    k, v, extra = _with_learned_pair(k, v, bias_k, bias_v, batch, static_k, static_v)
    q = _by_head(q, batch, num_heads)
    k = _by_head(k, batch, num_heads) if static_k is None else _check_static("static_k", static_k, q)
    v = _by_head(v, batch, num_heads) if static_v is None else _check_static("static_v", static_v, q)
    if add_zero_attn:
        zeros = torch.zeros((k.shape[0], 1, k.shape[2]), dtype=k.dtype)
        k, v = torch.cat([k, zeros], dim=1), torch.cat([v, zeros], dim=1)
        extra += 1
    mask = _merged_mask(attn_mask, key_padding_mask, extra, num_heads, k.shape[1])
    dropout_p = dropout_p if training else 0.0

    if need_weights:
        attended, weights = _attend_with_weights(q, k, v, mask, dropout_p)
    else:
        attended, weights = _attend(q, k, v, mask, dropout_p, is_causal, batch), None
    output = attended.transpose(0, 1).reshape(length * batch, features)
    output = F.linear(output, out_proj_weight, out_proj_bias).view(length, batch, out_proj_weight.shape[0])
    if weights is not None:
        weights = weights.view(batch, num_heads, length, weights.shape[-1])
        weights = weights.mean(dim=1) if average_attn_weights else weights
    if not is_batched:
        output = output.squeeze(1)
        weights = None if weights is None else weights.squeeze(0)
    return output, weights


def _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads):
    """Whether the input is batched. Raises AssertionError for numbers of dimensions that don't go together."""
    dims = query.dim()
    if dims not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {dims}-D query tensor"
        )
    kind = f"For {'batched' if dims == 3 else 'unbatched'} ({dims}-D) `query`, expected"
    if key.dim() != dims or value.dim() != dims:
        raise AssertionError(
            f"{kind} `key` and `value` to be {dims}-D but found {key.dim()}-D and {value.dim()}-D tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != dims - 1:
        raise AssertionError(
            f"{kind} `key_padding_mask` to be `None` or {dims - 1}-D but found {key_padding_mask.dim()}-D tensor instead"
        )
    if attn_mask is not None:
        if attn_mask.dim() not in (2, 3):
            raise AssertionError(
                f"{kind} `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.dim()}-D tensor instead"
            )
        expected = (num_heads, query.shape[0], key.shape[0])
        if dims == 2 and attn_mask.dim() == 3 and attn_mask.shape != expected:
            raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}")
    return dims == 3


def _check_sizes(query, key, value, embed_dim, num_heads, separate):
    features = query.shape[2]
    if features != embed_dim:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim}, but got {features}")
    if features % num_heads:
        raise AssertionError(f"embed_dim {features} not divisible by num_heads {num_heads}")
    if separate and key.shape[:2] != value.shape[:2]:
        raise AssertionError(
            f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}"
        )
    if not separate and key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")


def _mask_by_head(mask, heads, length, source_length):
    """The attention mask as (1 or N * heads, L, S). Raises RuntimeError for another shape."""
    if mask is None:
        return None
    expected = (length, source_length) if mask.dim() == 2 else (heads, length, source_length)
    if mask.shape != expected:
        raise RuntimeError(
            f"The shape of the {mask.dim()}D attn_mask is {mask.shape}, but should be {expected}."
        )
    return mask.unsqueeze(0) if mask.dim() == 2 else mask


def _project_packed(query, key, value, weight, bias):
    """Projections by one weight of three parts; one product where query, key and value are the same tensor."""
    if weight is None:
        raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
    if query is key and key is value:
        return F.linear(query, weight, bias).chunk(3, dim=-1)
    weights = weight.chunk(3)
    return _project_separately(query, key, value, weights, bias)


def _project_separately(query, key, value, weights, bias):
    for name, weight in zip("qkv", weights, strict=True):
        if weight is None:
            raise AssertionError(f"use_separate_proj_weight is True but {name}_proj_weight is None")
    biases = (None, None, None) if bias is None else bias.chunk(3)
    return tuple(F.linear(t, w, b) for t, w, b in zip((query, key, value), weights, biases, strict=True))


def _with_learned_pair(k, v, bias_k, bias_v, batch, static_k, static_v):
    """Keys and values with `bias_k` and `bias_v` after them, and how many were added."""
    if bias_k is None and bias_v is None:
        return k, v, 0
    for name, given in (("bias_k", bias_k), ("bias_v", bias_v)):
        if given is None:
            other = "bias_v" if name == "bias_k" else "bias_k"
            raise AssertionError(f"{other} is set but {name} is None")
    if static_k is not None:
        raise AssertionError("bias cannot be added to static key.")
    if static_v is not None:
        raise AssertionError("bias cannot be added to static value.")
    return torch.cat([k, bias_k.repeat(1, batch, 1)]), torch.cat([v, bias_v.repeat(1, batch, 1)]), 1


def _by_head(projected, batch, num_heads):
    """(L, N, E) as (N * heads, L, E / heads)."""
    length, _, features = projected.shape
    return projected.reshape(length, batch * num_heads, features // num_heads).transpose(0, 1)


def _check_static(name, static, q):
    for dim in (0, 2):
        if static.size(dim) != q.shape[dim]:
            raise AssertionError(
                f"expecting {name}.size({dim}) of {q.shape[dim]}, but got {static.size(dim)}"
            )
    return static


def _merged_mask(attn_mask, key_padding_mask, extra, num_heads, source_length):
    """Both masks added up, zero for the `extra` keys behind the given ones."""
    if extra:
        attn_mask = None if attn_mask is None else F.pad(attn_mask, (0, extra))
        key_padding_mask = None if key_padding_mask is None else F.pad(key_padding_mask, (0, extra))
    if key_padding_mask is None:
        return attn_mask
    batch = key_padding_mask.shape[0]
    if key_padding_mask.shape[1] != source_length:
        raise AssertionError(
            f"Expected key_padded_mask.shape[1] to be {source_length}, but got {key_padding_mask.shape[1]}"
        )
    padding = key_padding_mask.view(batch, 1, 1, source_length).expand(-1, num_heads, -1, -1)
    padding = padding.reshape(batch * num_heads, 1, source_length)
    return padding if attn_mask is None else attn_mask + padding


def _attend_with_weights(q, k, v, mask, dropout_p):
    scores = torch.bmm(q * math.sqrt(1.0 / q.shape[-1]), k.transpose(-2, -1))
    weights = F.softmax(scores if mask is None else scores + mask, dim=-1)
    if dropout_p > 0.0:
        weights = F.dropout(weights, p=dropout_p)
    return torch.bmm(weights, v), weights


def _attend(q, k, v, mask, dropout_p, is_causal, batch):
    """Attention without its weights, through the fused operator, over (N, heads, L, E / heads)."""
    shaped = [t.reshape(batch, -1, *t.shape[1:]) for t in (q, k, v)]
    if mask is not None:
        mask = mask.unsqueeze(0) if mask.shape[0] == 1 else mask.reshape(batch, -1, *mask.shape[1:])
    attended = F.scaled_dot_product_attention(*shaped, mask, dropout_p, is_causal)
    return attended.reshape(q.shape[0], q.shape[1], v.shape[-1])
