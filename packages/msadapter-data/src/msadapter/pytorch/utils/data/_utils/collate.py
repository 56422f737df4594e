"""From samples to a batch: `default_collate`, `default_convert` and the general `collate`."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

import msadapter.pytorch as torch
from msadapter.pytorch.utils.data._utils.containers import (
    is_namedtuple,
    like_mapping,
    like_sequence,
    map_items,
)

_NO_NUMBERS = "SaUO"  # dtype kinds that stay NumPy: strings and objects
default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)


def default_convert(data):
    """`data` with its NumPy arrays and numbers, however deep, as tensors; what a DataLoader does without batches.

    Tuples become lists; strings, Python numbers and other objects stay what they are.
    """
    if isinstance(data, np.ndarray) and data.dtype.kind in _NO_NUMBERS:
        return data
    if isinstance(data, (np.ndarray, np.generic)) and not isinstance(data, np.character):
        return torch.as_tensor(data)
    if isinstance(data, torch.Tensor):
        return data
    return map_items(default_convert, data, of_tuple=list)


def collate(batch, *, collate_fn_map: dict[type | tuple[type, ...], Callable] | None = None):
    """One object that holds all samples of the list `batch`, built after the first of them.

    Args:
        collate_fn_map: by type (or tuple of types) of the sample, `f(batch, *, collate_fn_map)`; the sample's own
            type is looked up first, then the first entry it is an instance of.

    Samples without an entry must be mappings or sequences, which are collated item by item.
    Raises TypeError for any other, RuntimeError for sequences of different lengths.
    """
    first = batch[0]
    function = _collate_function(first, collate_fn_map or {})
    if function is not None:
        return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        columns = {key: [sample[key] for sample in batch] for key in first}
        return like_mapping(
            first,
            {key: collate(column, collate_fn_map=collate_fn_map) for key, column in columns.items()},
        )
    if not isinstance(first, Sequence):
        raise TypeError(default_collate_err_msg_format.format(type(first)))
    if not is_namedtuple(first) and any(len(sample) != len(first) for sample in batch):
        raise RuntimeError("each element in list of batch should be of equal size")
    items = [collate(column, collate_fn_map=collate_fn_map) for column in zip(*batch)]
    if is_namedtuple(first):
        return type(first)(*items)
    return items if isinstance(first, tuple) else like_sequence(first, items)


def _collate_function(sample, functions):
    if type(sample) in functions:
        return functions[type(sample)]
    return next((function for kind, function in functions.items() if isinstance(sample, kind)), None)


def collate_tensor_fn(batch, *, collate_fn_map=None):
    return torch.stack(batch, 0)


def collate_numpy_array_fn(batch, *, collate_fn_map=None):
    if batch[0].dtype.kind in _NO_NUMBERS:
        raise TypeError(default_collate_err_msg_format.format(batch[0].dtype))
    return collate([torch.as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch, *, collate_fn_map=None):
    return torch.as_tensor(batch)


def collate_float_fn(batch, *, collate_fn_map=None):
    return torch.tensor(batch, dtype=torch.float64)


def collate_int_fn(batch, *, collate_fn_map=None):
    return torch.tensor(batch)


def collate_str_fn(batch, *, collate_fn_map=None):
    return batch


default_collate_fn_map: dict[type | tuple[type, ...], Callable] = {
    torch.Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    (np.bool_, np.number, np.object_): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def default_collate(batch):
    """One batch of a list of samples; what a DataLoader does with batches.

    Tensors and arrays are stacked along a new first dimension; Python numbers become a tensor (float64 for floats,
    int64 for ints); strings and bytes stay a list; mappings, named tuples and sequences are collated item by item,
    where tuples become lists. Samples of other types are given a function in `default_collate_fn_map`.

    Raises TypeError for any other type, RuntimeError for samples of different sizes.
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)
