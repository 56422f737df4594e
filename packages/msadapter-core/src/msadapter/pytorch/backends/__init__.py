"""torch.backends: switches that scripts set. MindSpore has none of these libraries; the values are kept and change nothing."""

import types as _types

__all__ = ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp"]


def _backend(name, available=False, **settings):
    backend = _types.SimpleNamespace(is_available=lambda: available, **settings)
    backend.__doc__ = f"torch.backends.{name}: kept for the scripts that set it; nothing here reads it."
    return backend


cudnn = _backend(
    "cudnn", enabled=True, benchmark=False, benchmark_limit=10, deterministic=False, allow_tf32=True, version=lambda: None
)  # fmt: skip
cuda = _backend("cuda", is_built=lambda: False, matmul=_types.SimpleNamespace(allow_tf32=False))
mps = _backend("mps", is_built=lambda: False)
mkl = _backend("mkl")
mkldnn = _backend("mkldnn", enabled=True)
openmp = _backend("openmp", available=True)
cpu = _types.SimpleNamespace(get_cpu_capability=lambda: "DEFAULT")
