"""Products built on matmul: outer and inner, sums of products with beta and alpha, tensordot, einsum, chains."""

import itertools
import math
import string

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine.native import TensorPy, shape_of
from msadapter.pytorch._ops.products import bmm, dot, matmul, mm, mv
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.shapes import to_int, wrap_dim


@op
def vdot(input, other):
    """The sum of the products of `input`'s conjugate and `other`, both vectors."""
    return dot(input.conj() if input.is_complex() else input, other)


@op
def inner(input, other):
    """Products summed over the last dimension of both: result input.shape[:-1] + other.shape[:-1]."""
    a, b = shape_of(input), shape_of(other)
    if not a or not b:
        return input * other
    if a[-1] != b[-1]:
        raise RuntimeError(
            f"inner() the last dimension must match on both input tensors but got shapes {list(a)} and {list(b)}"
        )
    return tensordot(input, other, dims=([-1], [-1]))


@op(aliases=("ger",))
def outer(input, vec2):
    """Every element of one vector times every element of another: [M] and [N] give [M, N]."""
    for position, vector in enumerate((input, vec2), 1):
        rank = len(shape_of(vector))
        if rank != 1:
            raise RuntimeError(
                f"outer: Expected 1-D argument {'self' if position == 1 else 'vec2'}, but got {rank}-D"
            )
    return input.unsqueeze(-1) * vec2


def _scaled(tensor, factor):
    """`tensor * factor`; integers and bool take the factor in their kind, as PyTorch's products do."""
    if factor == 1:
        return tensor
    kind = bool if tensor.dtype == _dtype.bool else int if _dtype.is_integral(tensor.dtype) else type(factor)
    return tensor * kind(factor)


def _accumulated(name, input, product, beta, alpha):
    shape = shape_of(product)
    if input.dtype != product.dtype:
        raise RuntimeError(
            f"{name}: self and the product must have the same dtype, but got {input.dtype} and {product.dtype}"
        )
    if beta == 0:  # PyTorch then ignores the input, NaN included
        return _scaled(product, alpha)
    return _scaled(input, beta).expand(shape) + _scaled(product, alpha)


@op(inplace=True)
def addmm(input, mat1, mat2, *, beta=1, alpha=1):
    """`beta * input + alpha * (mat1 @ mat2)` of matrices."""
    return _accumulated("addmm", input, mm(mat1, mat2), beta, alpha)


@op(inplace=True)
def addmv(input, mat, vec, *, beta=1, alpha=1):
    """`beta * input + alpha * (mat @ vec)`."""
    return _accumulated("addmv", input, mv(mat, vec), beta, alpha)


@op(inplace=True)
def addr(input, vec1, vec2, *, beta=1, alpha=1):
    """`beta * input + alpha * outer(vec1, vec2)`."""
    return _accumulated("addr", input, outer(vec1, vec2), beta, alpha)


@op(inplace=True)
def baddbmm(input, batch1, batch2, *, beta=1, alpha=1):
    """`beta * input + alpha * (batch1 @ batch2)` of batches of matrices."""
    return _accumulated("baddbmm", input, bmm(batch1, batch2), beta, alpha)


@op(inplace=True)
def addbmm(input, batch1, batch2, *, beta=1, alpha=1):
    """`beta * input + alpha * sum(batch1 @ batch2)` over the batch."""
    return _accumulated("addbmm", input, bmm(batch1, batch2).sum(0), beta, alpha)


@op(method=False)
def tensordot(a, b, dims=2):
    """Products summed over `dims`: the last n of `a` with the first n of `b`, or two lists of dimensions."""
    left, right = shape_of(a), shape_of(b)
    over_a, over_b = _contracted(dims, left, right)
    for i, j in zip(over_a, over_b, strict=True):
        if left[i] != right[j] and 1 not in (left[i], right[j]):
            raise RuntimeError(f"contracted dimensions need to match, but first has size {left[i]} in dim {i} and second has size {right[j]} in dim {j}")  # fmt: skip
    a = _summed_where_other_is_1(a, over_a, [right[j] for j in over_b])
    b = _summed_where_other_is_1(b, over_b, [left[i] for i in over_a])
    rest_a = [i for i in range(len(left)) if i not in over_a]
    rest_b = [j for j in range(len(right)) if j not in over_b]
    depth = math.prod(shape_of(a)[i] for i in over_a)
    rows, columns = [left[i] for i in rest_a], [right[j] for j in rest_b]
    product = mm(
        a.permute(*rest_a, *over_a).reshape(math.prod(rows), depth),
        b.permute(*over_b, *rest_b).reshape(depth, math.prod(columns)),
    )
    return product.reshape(*rows, *columns)


def _contracted(dims, left, right):
    if isinstance(dims, TensorPy):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(len(left), len(right)):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        return list(range(len(left) - dims, len(left))), list(range(dims))
    over_a, over_b = ([d] if isinstance(d, int) else list(d) for d in dims)
    if len(over_a) != len(over_b):
        raise RuntimeError("both dimension lists should have same length")
    return [wrap_dim(to_int(d), len(left)) for d in over_a], [wrap_dim(to_int(d), len(right)) for d in over_b]


def _summed_where_other_is_1(tensor, dims, others):
    """A dimension that meets one of size 1 is summed first."""
    shape = shape_of(tensor)
    summed = [d for d, other in zip(dims, others, strict=True) if other == 1 and shape[d] != 1]
    return tensor.sum(summed, True) if summed else tensor


@op(method=False)
def chain_matmul(*matrices):
    """The product of several matrices, in the cheapest order."""
    return multi_dot(
        matrices[0] if len(matrices) == 1 and isinstance(matrices[0], (list, tuple)) else matrices
    )


@op(namespace="torch.linalg", method=False)
def multi_dot(tensors):
    """The product of several matrices (the first and the last may be vectors), in the cheapest order."""
    tensors = list(tensors)
    if len(tensors) < 2:
        if len(tensors) == 1:
            return tensors[0]
        raise RuntimeError("multi_dot(): expected at least 2 tensors but got 0")
    first_is_vector, last_is_vector = len(shape_of(tensors[0])) == 1, len(shape_of(tensors[-1])) == 1
    if first_is_vector:
        tensors[0] = tensors[0].unsqueeze(0)
    if last_is_vector:
        tensors[-1] = tensors[-1].unsqueeze(-1)
    for i, t in enumerate(tensors):
        if len(shape_of(t)) != 2:
            raise RuntimeError(f"multi_dot(): tensor {i} must be 2D but got {len(shape_of(t))}D")
    result = _in_cheapest_order(tensors)
    if first_is_vector:
        result = result.squeeze(0)
    return result.squeeze(-1) if last_is_vector else result


def _in_cheapest_order(matrices):
    """Matrix chain multiplication by dynamic programming over the split points."""
    sizes = [shape_of(m)[0] for m in matrices] + [shape_of(matrices[-1])[1]]
    count = len(matrices)
    cost = [[0] * count for _ in range(count)]
    split = [[0] * count for _ in range(count)]
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            costs = [
                cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1] for k in range(i, j)
            ]
            cost[i][j] = min(costs)
            split[i][j] = i + costs.index(cost[i][j])

    def product(i, j):
        return matrices[i] if i == j else mm(product(i, split[i][j]), product(split[i][j] + 1, j))

    return product(0, count - 1)


@op(namespace="torch.linalg", method=False)
def vecdot(x, y, *, dim=-1):
    """The sum of `x`'s conjugate times `y` along `dim`."""
    return ((x.conj() if x.is_complex() else x) * y).sum(dim)


@op(namespace="torch.nn.functional", method=False, out=False)
def bilinear(input1, input2, weight, bias=None):
    """`input1[..., i] weight[n, i, j] input2[..., j] + bias[n]`."""
    a, b, w = shape_of(input1), shape_of(input2), shape_of(weight)
    if a[:-1] != b[:-1]:
        raise RuntimeError(f"bilinear(): input batch dimensions do not match: got {list(a)} and {list(b)}")
    if a[-1] != w[1] or b[-1] != w[2]:
        raise RuntimeError(
            f"bilinear(): input sizes do not match weight: got {a[-1]}, {b[-1]} for weight {list(w)}"
        )
    rows = math.prod(a[:-1])
    left = mm(input1.reshape(rows, a[-1]), weight.permute(1, 0, 2).reshape(w[1], w[0] * w[2]))
    result = (left.reshape(rows, w[0], w[2]) * input2.reshape(rows, 1, b[-1])).sum(-1).reshape(*a[:-1], w[0])
    return result if bias is None else result + bias


# --- einsum ---------------------------------------------------------------------------------------------------------


@op(method=False, out=False)
def einsum(equation, *operands):
    """Products of operands summed over the labels that the output lacks: "bij,bjk->bik", ellipsis and repeats included.

    The sublist form `einsum(a, [0, 1], b, [1, 2], [0, 2])` is taken too. Contracted from the left, two at a time.
    """
    if isinstance(equation, TensorPy):
        equation, operands = _from_sublists((equation, *operands))
    elif len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = operands[0]
    terms, target = _parse(equation, [len(shape_of(o)) for o in operands])
    operands = [_diagonals_taken(o, t) for o, t in zip(operands, terms, strict=True)]
    terms = [_unique(t) for t in terms]
    _check_label_sizes(operands, terms)
    result, labels = operands[0], terms[0]
    for i, (operand, term) in enumerate(zip(operands[1:], terms[1:], strict=True), 2):
        needed = set(target).union(*terms[i:])
        result, labels = _contract_pair(result, labels, operand, term, needed)
    summed = [i for i, label in enumerate(labels) if label not in target]
    if summed:
        result = result.sum(summed)
        labels = [label for label in labels if label in target]
    return result.permute([labels.index(label) for label in target])


def _from_sublists(arguments):
    letters = string.ascii_letters
    operands, lists = list(arguments[0::2]), list(arguments[1::2])
    output = operands.pop() if len(operands) > len(lists) else None

    def text(labels):
        return "".join("..." if label is Ellipsis else letters[label] for label in labels)

    equation = ",".join(map(text, lists))
    return (equation if output is None else f"{equation}->{text(output)}"), operands


def _parse(equation, ranks):
    """(labels of each operand, labels of the output); the dimensions of an ellipsis get labels of their own."""
    source, arrow, output = equation.replace(" ", "").partition("->")
    parts = source.split(",")
    if len(parts) != len(ranks):
        raise RuntimeError(f"einsum(): more operands were provided than specified in the equation. Received: {len(ranks)} for {equation!r}" if len(ranks) > len(parts) else f"einsum(): fewer operands were provided than specified in the equation. Received: {len(ranks)} for {equation!r}")  # fmt: skip
    hidden = max(
        (rank - len(p.replace("...", "")) for p, rank in zip(parts, ranks, strict=True) if "..." in p),
        default=0,
    )
    terms = []
    for part, rank in zip(parts, ranks, strict=True):
        named = part.replace("...", "")
        if not named.isalpha() and named:
            raise RuntimeError(
                f"einsum(): invalid subscript given in the equation {equation!r}, subscripts must be in [a-zA-Z]"
            )
        span = rank - len(named)
        if span < 0 or (span and "..." not in part):
            raise RuntimeError(f"einsum(): the number of subscripts in the equation ({len(named)}) does not match the number of dimensions ({rank}) for operand {len(terms)} and no ellipsis was given")  # fmt: skip
        terms.append(_labels(part, [("...", hidden - span + i) for i in range(span)]))
    ellipsis = [("...", i) for i in range(hidden)]
    if arrow:
        target = _labels(output, ellipsis)
        unknown = [label for label in target if not any(label in term for term in terms)]
        if unknown:
            raise RuntimeError(
                f"einsum(): output subscript {unknown[0]} does not appear in the equation for any input operand"
            )
        if len(set(target)) != len(target):
            raise RuntimeError(f"einsum(): output subscripts appear more than once. Received: {equation!r}")
        return terms, target
    counts = list(itertools.chain.from_iterable(terms))
    once = sorted(label for label in set(counts) if isinstance(label, str) and counts.count(label) == 1)
    return terms, ellipsis + once


def _labels(part, ellipsis):
    before, dots, after = part.partition("...")
    return [*before, *(ellipsis if dots else ()), *after]


def _unique(term):
    return list(dict.fromkeys(term))


def _diagonals_taken(operand, term):
    """Repeated labels mean the diagonal of these dimensions, which takes the place of the first."""
    labels = list(term)
    for label in _unique(term):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            sizes = shape_of(operand)
            if sizes[first] != sizes[second]:
                raise RuntimeError(f"einsum(): subscript {label} is repeated for operand but the sizes don't match, {sizes[second]} != {sizes[first]}")  # fmt: skip
            operand = operand.diagonal(0, first, second).movedim(-1, first)
            del labels[second]
    return operand


def _check_label_sizes(operands, terms):
    known = {}
    for operand, term in zip(operands, terms, strict=True):
        for label, size in zip(term, shape_of(operand), strict=True):
            if known.setdefault(label, size) == 1:
                known[label] = size
            elif size not in (1, known[label]):
                raise RuntimeError(f"einsum(): operands do not broadcast with remapped shapes: subscript {label} has size {size} which does not broadcast with previously seen size {known[label]}")  # fmt: skip


def _contract_pair(a, a_labels, b, b_labels, needed):
    """The product of two operands, summed over the labels that nothing else needs: one batched matrix product."""
    a, a_labels = _sum_own(a, a_labels, b_labels, needed)
    b, b_labels = _sum_own(b, b_labels, a_labels, needed)
    shared = [label for label in a_labels if label in b_labels]
    batch = [label for label in shared if label in needed]
    summed = [label for label in shared if label not in needed]
    only_a = [label for label in a_labels if label not in shared]
    only_b = [label for label in b_labels if label not in shared]
    sizes = dict(zip(b_labels, shape_of(b), strict=True))
    for label, size in zip(a_labels, shape_of(a), strict=True):
        sizes[label] = size if sizes.get(label, 1) == 1 else sizes[label]
    left = _arranged(a, a_labels, (batch, only_a, summed), sizes)
    right = _arranged(b, b_labels, (batch, summed, only_b), sizes)
    labels = batch + only_a + only_b
    return matmul(left, right).reshape([sizes[label] for label in labels]), labels


def _sum_own(tensor, labels, others, needed):
    own = [i for i, label in enumerate(labels) if label not in others and label not in needed]
    if not own:
        return tensor, labels
    return tensor.sum(own), [label for i, label in enumerate(labels) if i not in own]


def _arranged(tensor, labels, groups, sizes):
    """`tensor` as [batch, rows, columns] of three groups of labels, dimensions of size 1 expanded."""
    order = [label for group in groups for label in group]
    turned = tensor.permute([labels.index(label) for label in order]).expand(
        [sizes[label] for label in order]
    )
    return turned.reshape([math.prod(sizes[label] for label in group) for group in groups])
