"""Samples and batches are nested containers; these build one of the same kind with other values in it."""

import copy
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence


def like_mapping(original, values: dict):
    """A mapping of the kind of `original` that holds `values`; a dict where that kind cannot be made."""
    try:
        if not isinstance(original, MutableMapping):
            return type(original)(values)
        # A copy, not a new one: a mutable mapping may carry more than its items (a default factory, attributes).
        result = copy.copy(original)
        result.update(values)
        return result
    except TypeError:
        return values


def like_sequence(original, values: list):
    """A sequence of the kind of `original` that holds `values`; a list where that kind cannot be made."""
    try:
        if not isinstance(original, MutableSequence):
            return type(original)(values)
        result = copy.copy(original)
        for i, value in enumerate(values):
            result[i] = value
        return result
    except TypeError:
        return values


def is_namedtuple(data):
    return isinstance(data, tuple) and hasattr(data, "_fields")


def map_items(function, data, of_tuple):
    """`data` with `function` applied to each item; anything but a mapping or sequence as it is.

    `of_tuple` makes what stands for a plain tuple, from a list.
    """
    if isinstance(data, Mapping):
        return like_mapping(data, {key: function(data[key]) for key in data})
    if is_namedtuple(data):
        return type(data)(*map(function, data))
    if isinstance(data, tuple):
        return of_tuple([function(item) for item in data])
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return like_sequence(data, [function(item) for item in data])
    return data
