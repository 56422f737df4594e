"""Losses; expected values are those of real PyTorch 2.13."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import msadapter.pytorch as torch
from msadapter.pytorch._ops.registry import exports
from msadapter.pytorch.autograd import gradcheck, gradgradcheck

functional = SimpleNamespace(**exports("torch.nn.functional"))

INF, NAN = math.inf, math.nan


def wave(*shape, dtype=torch.float64, grad=False):
    """Distinct values between -1 and 1."""
    tensor = torch.tensor(np.cos(0.7 * np.arange(math.prod(shape)) + 0.3).reshape(shape)).to(dtype)
    return tensor.requires_grad_() if grad else tensor


def part(*shape, grad=False):
    """Distinct values between 0 and 1."""
    tensor = (wave(*shape) + 1.2) / 2.4
    return tensor.requires_grad_() if grad else tensor


CLASSES = [0, 2, -100, 1]


def classes():
    return torch.tensor(CLASSES)


def signs():
    return torch.tensor([1.0, -1.0, 1.0], dtype=torch.float64)


VALUES = [
    (lambda: functional.cross_entropy(wave(4, 3), classes()), 0.952431),
    (lambda: functional.cross_entropy(wave(4, 3), classes(), reduction="none"), [0.692395, 1.0533, 0.0, 1.11159]),
    (lambda: functional.cross_entropy(wave(4, 3), classes(), part(3), reduction="sum"), 1.89796),
    (lambda: functional.cross_entropy(wave(4, 3), classes(), part(3), label_smoothing=0.2), 0.950156),
    (lambda: functional.cross_entropy(wave(4, 3), classes(), part(3), label_smoothing=0.2, reduction="none"), [0.645298, 0.52826, 0.0, 0.792788]),
    (lambda: functional.cross_entropy(wave(4, 3)[:2], classes()[:2], ignore_index=2), 0.692395),
    (lambda: functional.cross_entropy(wave(1, 3, 2, 2), torch.tensor([[[0, 1], [2, -100]]]), part(3)), 1.29772),
    (lambda: functional.cross_entropy(wave(2, 3), part(2, 3), part(3), label_smoothing=0.1), 0.895958),
    (lambda: functional.cross_entropy(wave(2, 3), part(2, 3), reduction="none"), [2.21775, 0.477792]),
    (lambda: functional.cross_entropy(wave(3), torch.tensor(1), reduction="none"), 1.10743),
    (lambda: functional.cross_entropy(wave(2, 3), torch.tensor([-100, -100])), NAN),
    (lambda: functional.cross_entropy(wave(0, 3), torch.zeros(0).long(), reduction="sum"), 0.0),
    (lambda: functional.cross_entropy(wave(0, 3), torch.zeros(0).long()), NAN),
    (lambda: functional.cross_entropy(torch.tensor([[0.0, -INF], [1e4, -1e4]]), torch.tensor([1, 0]), reduction="none"), [INF, 0.0]),
    (lambda: functional.nll_loss(wave(2, 3), torch.tensor([2, 0]), part(3)), 0.535363),
    (lambda: functional.nll_loss(wave(1, 2, 2), torch.tensor([[1, 0]]), reduction="none"), [[0.128844, -0.540302]]),
    (lambda: functional.linear_cross_entropy(wave(2, 4), wave(3, 4), torch.tensor([2, 0]), linear_bias=wave(3)), 2.4353),
    (lambda: functional.mse_loss(wave(2, 3), part(2, 3)), 0.555038),
    (lambda: functional.mse_loss(wave(2, 3), part(2, 3), weight=part(2, 3) * 2), 0.237558),
    (lambda: functional.mse_loss(wave(0, 3), wave(0, 3)), NAN),
    (lambda: functional.l1_loss(wave(2, 3), part(2, 3), reduction="sum"), 3.79164),
    (lambda: functional.smooth_l1_loss(wave(2, 3), part(2, 3), beta=0.3, reduction="none"), [[0.00546826, 0.056933, 0.425159], [0.780146, 0.932829, 0.811398]]),
    (lambda: functional.smooth_l1_loss(wave(2, 3), part(2, 3), beta=0.0), 0.631939),
    (lambda: functional.huber_loss(wave(2, 3), part(2, 3), delta=0.3, reduction="none"), [[0.00164048, 0.0170799, 0.127548], [0.234044, 0.279849, 0.243419]]),
    (lambda: functional.huber_loss(wave(2, 3), part(2, 3), delta=0.3, weight=part(2, 3)), 0.0301342),
    (lambda: functional.binary_cross_entropy(part(2, 3), part(2, 3) ** 2, part(3)), 0.290632),
    (lambda: functional.binary_cross_entropy(torch.tensor([0.0, 1.0, 0.0]), torch.tensor([0.0, 1.0, 1.0]), reduction="none"), [0.0, 0.0, 100.0]),
    (lambda: functional.binary_cross_entropy(torch.tensor([0.3]), torch.tensor([1.0])), 1.20397),
    (lambda: functional.binary_cross_entropy_with_logits(wave(2, 3) * 9, part(2, 3), part(2, 1), pos_weight=part(3) * 3), 1.29521),
    (lambda: functional.binary_cross_entropy_with_logits(torch.tensor([-500.0, 500.0]), torch.tensor([1.0, 1.0]), reduction="none"), [500.0, 0.0]),
    (lambda: functional.kl_div(wave(2, 3), part(2, 3), reduction="batchmean"), -1.17393),
    (lambda: functional.kl_div(wave(2, 3), part(2, 3), reduction="sum", log_target=True), 4.58503),
    (lambda: functional.kl_div(wave(3), torch.tensor([0.0, 1.0, 2.0]), reduction="none"), [0.0, -0.540302, 1.64398]),
    (lambda: functional.poisson_nll_loss(wave(2, 3), part(2, 3) * 4, full=True), 1.30432),
    (lambda: functional.poisson_nll_loss(part(2, 3), part(2, 3) * 4, log_input=False, reduction="none"), [[1.2843, 1.65738, 1.88654], [1.4621, 0.914133, 1.37669]]),
    (lambda: functional.gaussian_nll_loss(wave(2, 3), part(2, 3), part(2, 3), full=True), 2.38405),
    (lambda: functional.gaussian_nll_loss(wave(2, 3), part(2, 3), part(2) * 0, reduction="none"), [[1633.57, 17073.0, 165397.0], [432579.0, 586252.0, 462136.0]]),
    (lambda: functional.gaussian_nll_loss(wave(2, 3), part(2, 3), 0.5), 0.208464),
    (lambda: functional.margin_ranking_loss(wave(3), part(3), signs(), margin=0.2, reduction="none"), [0.14272, 0.0151763, 0.775159]),
    (lambda: functional.hinge_embedding_loss(wave(3), signs(), margin=0.7, reduction="none"), [0.955336, 0.159698, -0.128844]),
    (lambda: functional.soft_margin_loss(wave(3), signs()), 0.694823),
    (lambda: functional.multilabel_soft_margin_loss(wave(2, 3), part(2, 3).round(), part(3)), 0.27533),
    (lambda: functional.cosine_embedding_loss(wave(3, 2), part(3, 2), signs(), margin=0.1, reduction="none"), [0.0135075, 0.0, 1.90275]),
    (lambda: functional.triplet_margin_loss(wave(3, 2), part(3, 2), wave(3, 2) * 2, margin=0.5, swap=True, reduction="none"), [0.0, 0.845041, 0.673708]),
    (lambda: functional.triplet_margin_loss(wave(3, 2), part(3, 2), wave(3, 2) * 2, p=1), 0.964394),
    (lambda: functional.triplet_margin_with_distance_loss(wave(3, 2), part(3, 2), wave(3, 2) * 2, distance_function=lambda a, b: (a - b).abs().sum(1)), 0.964397),
    (lambda: functional.multi_margin_loss(wave(2, 3), torch.tensor([2, 0]), p=2, margin=0.5, weight=part(3), reduction="none"), [0.576718, 0.0766531]),
    (lambda: functional.multi_margin_loss(wave(3), torch.tensor(1)), 0.581962),
    (lambda: functional.multilabel_margin_loss(wave(2, 4), torch.tensor([[0, 2, -1, 1], [-1, 0, 0, 0]]), reduction="none"), [0.661391, 0.0]),
]  # fmt: skip


@pytest.mark.parametrize(("run", "expected"), VALUES)
def test_values(run, expected, same):
    same(run(), expected)


def log_probabilities(dtype=torch.float64):
    return torch.log_softmax(wave(5, 2, 4, dtype=dtype), 2)


CTC = [
    (lambda: functional.ctc_loss(log_probabilities(), torch.tensor([[1, 2], [3, 3]]), (5, 4), (2, 2), reduction="none"), [2.82732, 3.51782]),
    (lambda: functional.ctc_loss(log_probabilities(), torch.tensor([1, 2, 3]), torch.tensor([5, 4]), torch.tensor([2, 1])), 1.8413),
    (lambda: functional.ctc_loss(log_probabilities(), torch.tensor([[1, 2], [3, 1]]), (5, 4), (2, 0), blank=3, reduction="sum"), 8.18012),
    (lambda: functional.ctc_loss(log_probabilities()[:, 0], torch.tensor([1, 2]), torch.tensor(5), torch.tensor(2)), 1.41366),
    (lambda: functional.ctc_loss(log_probabilities(), torch.tensor([[1, 2], [3, 3]]), (1, 4), (2, 2), reduction="none"), [INF, 3.51782]),
    (lambda: functional.ctc_loss(log_probabilities(), torch.tensor([[1, 2], [3, 3]]), (1, 4), (2, 2), zero_infinity=True), 0.879455),
]  # fmt: skip


@pytest.mark.parametrize(("run", "expected"), CTC)
def test_ctc_loss(run, expected, same):
    same(run(), expected)


def test_gradient_of_ctc_loss(same):
    scores = wave(3, 2, 3, grad=True)
    run = functional.ctc_loss
    run(
        torch.log_softmax(scores, 2), torch.tensor([[1, 2], [2, 1]]), (3, 1), (2, 2), zero_infinity=True
    ).backward()
    same(
        scores.grad,
        [
            [[0.0643965, -0.106701, 0.0423041], [0.0, 0.0, 0.0]],
            [[0.0207056, -0.0198552, -0.000850399], [0.0, 0.0, 0.0]],
            [[0.0255422, 0.0708144, -0.0963565], [0.0, 0.0, 0.0]],
        ],
    )
    with pytest.raises(NotImplementedError, match="derivative"):
        scores.grad = None
        loss = run(torch.log_softmax(scores, 2), torch.tensor([[1, 2], [2, 1]]), (3, 3), (2, 2))
        torch.autograd.grad(loss, scores, create_graph=True)[0].sum().backward()


GRADIENTS = {
    "cross_entropy": (lambda x: functional.cross_entropy(x, torch.tensor([2, 0])), [wave(2, 3)]),
    "cross_entropy, weighted places": (
        lambda x: functional.cross_entropy(x, torch.tensor([[1, -100]]), part(2), reduction="none"),
        [wave(1, 2, 2)],
    ),
    "cross_entropy, smooth": (
        lambda x: functional.cross_entropy(x, torch.tensor([2, 0]), label_smoothing=0.2, ignore_index=0),
        [wave(2, 3)],
    ),
    "cross_entropy, probabilities": (functional.cross_entropy, [wave(2, 2), part(2, 2)]),
    "nll_loss": (lambda x: functional.nll_loss(x, torch.tensor([2, 0]), reduction="sum") ** 2, [wave(2, 3)]),
    "mse_loss": (functional.mse_loss, [wave(2, 2), part(2, 2)]),
    "smooth_l1_loss": (lambda x, y: functional.smooth_l1_loss(x, y, beta=0.4), [wave(2, 2), part(2, 2)]),
    "huber_loss": (lambda x, y: functional.huber_loss(x, y, delta=0.4), [wave(2, 2), part(2, 2)]),
    "binary_cross_entropy": (functional.binary_cross_entropy, [part(3), part(3)]),
    "binary_cross_entropy_with_logits": (
        lambda x, y, w: functional.binary_cross_entropy_with_logits(x, y, pos_weight=w),
        [wave(1, 2), part(1, 2), part(2)],
    ),
    "kl_div": (lambda x, y: functional.kl_div(x, y, reduction="sum"), [wave(3), part(3)]),
    "poisson_nll_loss": (lambda x, y: functional.poisson_nll_loss(x, y, full=True), [wave(3), part(3) * 4]),
    "gaussian_nll_loss": (functional.gaussian_nll_loss, [wave(1, 2), part(1, 2), part(1, 2)]),
    "cosine_embedding_loss": (
        lambda x, y: functional.cosine_embedding_loss(x, y, torch.tensor(-1)),
        [wave(2), part(2)],
    ),
    "triplet_margin_loss": (functional.triplet_margin_loss, [wave(1, 2), part(1, 2), wave(1, 2) * 2]),
    "multi_margin_loss": (lambda x: functional.multi_margin_loss(x, torch.tensor([1]), p=2), [wave(1, 3)]),
    "multilabel_margin_loss": (
        lambda x: functional.multilabel_margin_loss(x, torch.tensor([[1, -1, 0]])) ** 2,
        [wave(1, 3)],
    ),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_of_both_orders(name):
    run, values = GRADIENTS[name]
    inputs = tuple(v.clone().requires_grad_() for v in values)
    assert gradcheck(run, inputs)
    assert gradgradcheck(run, inputs)


def test_gradients_of_binary_cross_entropy_where_logarithms_are_cut(same):
    x = torch.tensor([0.0, 1.0, 0.0, 1.0], requires_grad=True)
    functional.binary_cross_entropy(x, torch.tensor([0.0, 1.0, 1.0, 0.0]), reduction="sum").backward()
    same(x.grad, [0.0, 0.0, -1e12, 1e12])


def test_a_variance_below_eps_counts_as_eps_but_keeps_its_gradient(same):
    var = torch.tensor([1e-9, 0.5], dtype=torch.float64, requires_grad=True)
    functional.gaussian_nll_loss(wave(2), part(2), var, eps=0.1, reduction="sum").backward()
    same(var.grad, [4.83595, 0.93168])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_dtypes_stay(dtype):
    x = wave(2, 3, dtype=dtype).requires_grad_()
    for loss in (
        functional.cross_entropy(x, torch.tensor([0, 1])),
        functional.mse_loss(x, x.detach() * 2),
        functional.binary_cross_entropy_with_logits(x, x.detach().abs()),
        functional.smooth_l1_loss(x, x.detach() * 2),
    ):
        assert loss.dtype == dtype
        assert torch.autograd.grad(loss, x)[0].dtype == dtype


FORMS_OF_TORCH = [
    ("binary_cross_entropy_with_logits", [wave(2, 3), part(2, 3)], {"pos_weight": part(3)}),
    ("kl_div", [wave(2, 3), part(2, 3)], {"log_target": True}),
    ("margin_ranking_loss", [wave(3), part(3), signs()], {"margin": 0.2}),
    ("hinge_embedding_loss", [wave(3), signs()], {"margin": 0.2}),
    ("cosine_embedding_loss", [wave(3, 2), part(3, 2), signs()], {"margin": 0.2}),
    ("triplet_margin_loss", [wave(3, 2), part(3, 2), wave(3, 2) * 2], {"p": 1, "swap": True}),
]


@pytest.mark.parametrize(("name", "tensors", "arguments"), FORMS_OF_TORCH)
def test_torch_shows_losses_with_the_reduction_as_a_number(name, tensors, arguments):
    of_torch, functional_form = getattr(torch, name), getattr(functional, name)
    for number, reduction in ((0, "none"), (2, "sum")):
        expected = functional_form(*tensors, reduction=reduction, **arguments)
        assert torch.equal(of_torch(*tensors, reduction=number, **arguments), expected)
    with pytest.raises(ValueError, match="3 is not a valid value for reduction"):
        of_torch(*tensors, reduction=3, **arguments)


def test_printed_losses_name_pytorchs_nodes():
    x = wave(2, 3, grad=True)
    assert "NllLossBackward0" in repr(functional.cross_entropy(x, torch.tensor([0, 1])))
    assert "MseLossBackward0" in repr(functional.mse_loss(x, x.detach() * 2))


def test_size_average_and_reduce_still_work():
    with pytest.warns(UserWarning, match="size_average and reduce args will be deprecated"):
        assert functional.mse_loss(wave(3), part(3), reduce=False).shape == (3,)
    with pytest.warns(UserWarning, match="please use reduction='sum'"):
        total = functional.l1_loss(wave(3), part(3), size_average=False)
    assert torch.equal(total, functional.l1_loss(wave(3), part(3), reduction="sum"))


def test_a_target_of_another_size_warns():
    with pytest.warns(UserWarning, match="Using a target size .* that is different to the input size"):
        functional.mse_loss(wave(2, 3), wave(3))


REFUSED = [
    (lambda: functional.cross_entropy(wave(2, 3), torch.tensor([0, 3])), IndexError, "Target 3 is out of bounds."),
    (lambda: functional.cross_entropy(wave(2, 3), torch.tensor([0, 1]).int()), RuntimeError, "expected target dtype to be Long or Byte, but got Int"),
    (lambda: functional.cross_entropy(wave(2, 3), torch.tensor([0, 1, 2])), ValueError, r"Expected input batch_size \(2\) to match target batch_size \(3\)"),
    (lambda: functional.cross_entropy(wave(2, 3), torch.tensor([0, 1]), wave(2)), RuntimeError, "weight tensor should be defined either for all 3 classes"),
    (lambda: functional.cross_entropy(wave(2, 3), torch.tensor([0, 1]), label_smoothing=2), RuntimeError, "label_smoothing must be between 0.0 and 1.0"),
    (lambda: functional.cross_entropy(wave(2, 3), [0, 1]), TypeError, "argument 'target'"),
    (lambda: functional.nll_loss(wave(2, 3, 2), torch.tensor([0, 1])), RuntimeError, "only batches of spatial targets supported"),
    (lambda: functional.mse_loss(wave(3), wave(3), reduction="all"), ValueError, "all is not a valid value for reduction"),
    (lambda: functional.mse_loss(wave(3).long(), wave(3).long()), NotImplementedError, "\"mse_cpu\" not implemented for 'Long'"),
    (lambda: functional.mse_loss(wave(3), wave(3), weight=wave(1)), ValueError, "Weights and input must have the same size"),
    (lambda: functional.smooth_l1_loss(wave(3), wave(3), beta=-1), RuntimeError, "does not support negative values for beta"),
    (lambda: functional.huber_loss(wave(3), wave(3), delta=0), RuntimeError, "does not support non-positive values for delta"),
    (lambda: functional.binary_cross_entropy(wave(3), part(3)), RuntimeError, "all elements of input should be between 0 and 1"),
    (lambda: functional.binary_cross_entropy(part(3), part(2)), ValueError, "Using a target size"),
    (lambda: functional.gaussian_nll_loss(wave(2, 3), wave(2, 3), part(3)), ValueError, "var is of incorrect size"),
    (lambda: functional.gaussian_nll_loss(wave(2, 3), wave(2, 3), -part(2, 3)), ValueError, "var has negative entry"),
    (lambda: functional.triplet_margin_loss(wave(2), wave(2), wave(2), margin=0), ValueError, "margin must be greater than 0, got 0"),
    (lambda: functional.multi_margin_loss(wave(2, 3), torch.tensor([0, 3])), RuntimeError, "target out of range"),
    (lambda: functional.cosine_embedding_loss(wave(2, 3), wave(2, 3), torch.tensor(1)), RuntimeError, "0D target tensor expects 1D input tensors"),
    (lambda: functional.ctc_loss(log_probabilities(), torch.tensor([[1], [7]]), (5, 5), (1, 1)), RuntimeError, "labels must be in the range 0 to 3"),
    (lambda: functional.ctc_loss(log_probabilities(), torch.tensor([[1], [2]]), (6, 5), (1, 1)), RuntimeError, "Expected input_lengths to have value at most 5"),
]  # fmt: skip


@pytest.mark.parametrize(("run", "error", "message"), REFUSED)
@pytest.mark.filterwarnings("ignore:Using a target size")
def test_refusals(run, error, message):
    with pytest.raises(error, match=message):
        run()
