"""Named tuples of results, such as `torch.return_types.max` with its `values` and `indices`."""

from collections import namedtuple

RESULTS = {}
"""The classes made here by name: what `torch.return_types` shows."""


class _Printed:
    """What PyTorch's result types add to a named tuple."""

    __slots__ = ()

    def __new__(cls, *values):
        """`cls(values, indices)`, or PyTorch's own `cls((values, indices))`."""
        if len(values) == 1 and cls.n_fields != 1:
            values = tuple(values[0])
        if len(values) != cls.n_fields:
            raise TypeError(
                f"torch.return_types.{cls.__name__}() takes a {cls.n_fields}-sequence ({len(values)}-sequence given)"
            )
        return cls._make(values)

    def __repr__(self):
        fields = ",\n".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
        return f"torch.return_types.{type(self).__name__}(\n{fields})"


def named_result(name, fields):
    """The result type `torch.return_types.<name>` with the fields of a space-separated string."""
    names = tuple(fields.split())
    members = {
        "__slots__": (),
        "__module__": "msadapter.pytorch.return_types",
        "n_fields": len(names),
        "n_sequence_fields": len(names),
        "n_unnamed_fields": 0,
    }
    RESULTS[name] = type(name, (_Printed, namedtuple(name, names)), members)
    return RESULTS[name]
