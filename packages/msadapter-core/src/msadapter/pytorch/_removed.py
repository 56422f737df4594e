"""Names that PyTorch has taken out: calling one raises its RuntimeError, which names the replacement."""

_REPLACEMENTS = {
    "eig": "torch.linalg.eig",
    "lstsq": "torch.linalg.lstsq (whose arguments come in the other order)",
    "matrix_rank": "torch.linalg.matrix_rank",
    "solve": "torch.linalg.solve (whose arguments come in the other order)",
    "symeig": "torch.linalg.eigh, or torch.linalg.eigvalsh for the values alone",
}


def _removed(name, replacement):
    def function(*args, **kwargs):
        raise RuntimeError(
            "This function was deprecated since version 1.9 and is now removed. "
            f"Write {replacement} in place of torch.{name}."
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Removed from PyTorch: write {replacement}. Raises RuntimeError."
    return function


FUNCTIONS = {name: _removed(name, replacement) for name, replacement in _REPLACEMENTS.items()}
