"""Causal masks that need no memory until they are used."""

import warnings
from enum import IntEnum, auto

from msadapter.pytorch import bool as bool_dtype
from msadapter.pytorch import ones, tril
from msadapter.pytorch._tensor import Tensor
from msadapter.pytorch.nn import functional as F

__all__ = ["causal_upper_left", "causal_lower_right", "CausalVariant", "CausalBias"]


class CausalVariant(IntEnum):
    """The corner at which the triangle of a mask that is not square ends."""

    UPPER_LEFT = auto()
    LOWER_RIGHT = auto()


class CausalBias(Tensor):
    """A causal mask for scaled_dot_product_attention.

    Args:
        variant: the corner of the triangle.
        seq_len_q, seq_len_kv: lengths of queries and keys.
    """

    def __init__(self, variant, seq_len_q, seq_len_kv):
        super().__init__()
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"variant must be a CausalVariant, got {type(variant).__name__}")
        self.variant = variant
        self.seq_len_q = seq_len_q
        self.seq_len_kv = seq_len_kv
        if seq_len_q > seq_len_kv and variant == CausalVariant.LOWER_RIGHT:
            warnings.warn(
                "Lower right causal bias will produce NaNs in the output when seq_len_q > seq_len_kv!",
                stacklevel=2,
            )

    def _materialize(self, device=None):
        """The mask itself, of bools."""
        diagonal = 0 if self.variant == CausalVariant.UPPER_LEFT else self.seq_len_kv - self.seq_len_q
        return tril(ones(self.seq_len_q, self.seq_len_kv, device=device, dtype=bool_dtype), diagonal=diagonal)

    @staticmethod
    def _dispatch(query, key, value, attn_mask, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
        if is_causal:
            raise ValueError("CausalBias should not be used with causal=True")
        is_upper_left = attn_mask.variant == CausalVariant.UPPER_LEFT
        is_causal = is_upper_left or attn_mask.seq_len_q == attn_mask.seq_len_kv
        return F.scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=None if is_causal else attn_mask._materialize(query.device),
            dropout_p=dropout_p,
            is_causal=is_causal,
            scale=scale,
            enable_gqa=enable_gqa,
        )

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is F.scaled_dot_product_attention:
            return cls._dispatch(*args, **(kwargs or {}))
        return super().__torch_function__(func, types, args, kwargs or {})

    def __repr__(self):
        return repr(self._materialize())


def causal_upper_left(*size):
    """The mask (queries, keys) whose triangle begins at the upper left, as `is_causal=True` has it."""
    if len(size) != 2:
        raise AssertionError("causal_upper_left only supports 2D tensors")
    return CausalBias(CausalVariant.UPPER_LEFT, *size)


def causal_lower_right(*size):
    """The mask (queries, keys) whose triangle ends at the lower right: the last query sees all keys."""
    if len(size) != 2:
        raise AssertionError("causal_lower_right only supports 2D tensors")
    return CausalBias(CausalVariant.LOWER_RIGHT, *size)
