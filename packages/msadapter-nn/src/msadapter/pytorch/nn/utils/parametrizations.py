"""Parametrizations: orthogonal matrices, weight norm and spectral norm."""

from enum import Enum, auto

from msadapter import pytorch as torch
from msadapter.pytorch._engine.grad_mode import no_grad
from msadapter.pytorch._tensor import Tensor
from msadapter.pytorch.nn import functional as F
from msadapter.pytorch.nn.modules.module import Module
from msadapter.pytorch.nn.utils import parametrize
from msadapter.pytorch.nn.utils.spectral_norm import _output_dim
from msadapter.pytorch.nn.utils.weight_norm import _norm_except_dim
from msadapter.pytorch.nn.utils.weight_norm import _weight_norm as _times_direction

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def _is_orthogonal(matrix):
    rows, columns = matrix.shape[-2:]
    identity = torch.eye(columns, dtype=matrix.dtype, device=matrix.device)
    return torch.allclose(matrix.mH @ matrix, identity, atol=10.0 * rows * torch.finfo(matrix.dtype).eps)


def _make_orthogonal(matrix):
    """The Q of a tall matrix's QR decomposition whose R has a positive diagonal."""
    reflectors, tau = torch.geqrf(matrix)
    q = torch.linalg.householder_product(reflectors, tau)
    return q * reflectors.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


class _OrthMaps(Enum):
    matrix_exp = auto()
    cayley = auto()
    householder = auto()


class _Orthogonal(Module):
    """Orthogonal (unitary) matrices as a function of free ones; with `base`, around a fixed orthogonal matrix."""

    def __init__(self, weight, orthogonal_map, *, use_trivialization=True):
        super().__init__()
        # The reflectors of a complex matrix do not give the tau of householder_product.
        if weight.is_complex() and orthogonal_map == _OrthMaps.householder:
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X):
        wide = X.size(-2) < X.size(-1)
        if wide:
            X = X.mT
        q = self._by_reflections(X) if self.orthogonal_map == _OrthMaps.householder else self._by_rotation(X)
        if hasattr(self, "base"):
            q = self.base @ q
        return q.mT if wide else q

    def _by_rotation(self, x):
        rows, columns = x.shape[-2:]
        x = x.tril()
        if rows != columns:
            x = torch.cat([x, x.new_zeros((*x.shape[:-1], rows - columns))], dim=-1)
        skew = x - x.mH
        if self.orthogonal_map == _OrthMaps.matrix_exp:
            q = torch.matrix_exp(skew)
        else:
            identity = torch.eye(rows, dtype=skew.dtype, device=skew.device)
            q = torch.linalg.solve(
                torch.add(identity, skew, alpha=-0.5), torch.add(identity, skew, alpha=0.5)
            )
        return q if rows == columns else q[..., :columns]

    def _by_reflections(self, x):
        below = x.tril(diagonal=-1)
        tau = 2.0 / (1.0 + (below * below).sum(dim=-2))
        q = torch.linalg.householder_product(below, tau)
        return q * x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)  # signs: not trained

    @no_grad()
    def right_inverse(self, Q):
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}."
            )
        wide = Q.size(-2) < Q.size(-1)
        tall = Q.mT if wide else Q
        if not hasattr(self, "base"):
            reflectors = self._reflectors_of(tall)
            return reflectors.mT if wide else reflectors
        rows, columns = tall.shape[-2:]
        if rows != columns:
            extra = torch.randn(*tall.shape[:-1], rows - columns, dtype=Q.dtype, device=Q.device)
            self.base = _make_orthogonal(torch.cat([tall, extra], dim=-1))
        else:
            self.base = tall.clone() if _is_orthogonal(tall) else _make_orthogonal(tall)
        # Reflections by zero with signs of -1 give the identity, as the rotations by what is below this diagonal do.
        minus_identity = torch.zeros_like(Q)
        minus_identity.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return minus_identity

    def _reflectors_of(self, matrix):
        if self.orthogonal_map != _OrthMaps.householder:
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                "use_trivialization=False."
            )
        reflectors, tau = torch.geqrf(matrix)
        diagonal = reflectors.diagonal(dim1=-2, dim2=-1)
        diagonal.sign_()
        diagonal[tau == 0.0] *= -1
        return reflectors


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    """Makes a matrix (or batch of them) orthogonal, in its columns or rows, whichever are fewer; returns the module.

    Args:
        orthogonal_map: "matrix_exp", "cayley" or "householder"; by default the first for square and complex matrices,
            the last for others.
        use_trivialization: whether the matrix is trained around a fixed one (`parametrizations.weight[0].base`), which
            begins as the tensor itself, made orthogonal.
    Raises ValueError for a name without a tensor, a vector, and a map of another name.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        is_square = weight.size(-2) == weight.size(-1)
        orthogonal_map = "matrix_exp" if is_square or weight.is_complex() else "householder"
    chosen = getattr(_OrthMaps, orthogonal_map, None)
    if chosen is None:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    orth = _Orthogonal(weight, chosen, use_trivialization=use_trivialization)
    return parametrize.register_parametrization(module, name, orth, unsafe=True)


class _WeightNorm(Module):
    """A weight of its lengths and directions."""

    def __init__(self, dim=0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g, weight_v):
        return _times_direction(weight_v, weight_g, self.dim)

    def right_inverse(self, weight):
        return _norm_except_dim(weight, self.dim), weight


def weight_norm(module, name="weight", dim=0):
    """Trains a parameter as length and direction, `parametrizations.weight.original0` and `original1`.

    `dim` is the dimension with a length for each index; None for one length. A state_dict of the older
    `nn.utils.weight_norm` can be loaded. Returns the module.
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        old = [f"{prefix}{name}_{letter}" for letter in "gv"]
        if all(key in state_dict for key in old):
            for place, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{name}.original{place}"] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(rename)
    return module


class _SpectralNorm(Module):
    """A weight divided by its largest singular value, which the power method follows in training."""

    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim % ndim
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._reshape_weight_to_matrix(weight)
            u, v = (matrix.new_empty(size).normal_(0, 1) for size in matrix.size())
            self.register_buffer("_u", F.normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", F.normalize(v, dim=0, eps=eps))
            self._power_method(matrix, 15)

    def _reshape_weight_to_matrix(self, weight):
        if self.dim != 0:
            weight = weight.permute(self.dim, *(d for d in range(weight.dim()) if d != self.dim))
        return weight.flatten(1)

    @no_grad()
    def _power_method(self, matrix, n_power_iterations):
        for _ in range(n_power_iterations):
            self._u.copy_(F.normalize(torch.mv(matrix, self._v), dim=0, eps=self.eps))
            self._v.copy_(F.normalize(torch.mv(matrix.H, self._u), dim=0, eps=self.eps))

    def forward(self, weight):
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._reshape_weight_to_matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        # Another call may change the buffers before this one's backward.
        u, v = self._u.clone(), self._v.clone()
        return weight / torch.vdot(u, torch.mv(matrix, v))

    def right_inverse(self, value):
        return value


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Divides a parameter by its largest singular value, followed by the power method; returns the module.

    `dim` is the dimension of the outputs: 0, and 1 for transposed convolutions, if not given.
    Raises ValueError for a name without a tensor.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    dim = _output_dim(module) if dim is None else dim
    norm = _SpectralNorm(weight, n_power_iterations, dim, eps)
    return parametrize.register_parametrization(module, name, norm)
