"""L-BFGS."""

from msadapter.pytorch import cat, view_as_real
from msadapter.pytorch._engine.grad_mode import enable_grad, no_grad
from msadapter.pytorch.optim._line_search import strong_wolfe
from msadapter.pytorch.optim.optimizer import Optimizer, check_learning_rate, number

__all__ = ["LBFGS"]


class LBFGS(Optimizer):
    """L-BFGS, over all parameters as one vector; `step` needs a closure that computes loss and gradients.

    Args:
        max_iter, max_eval: iterations and evaluations of the closure in one step (default: 1.25 iterations).
        tolerance_grad, tolerance_change: when to stop. history_size: how many updates are remembered.
        line_search_fn: None for steps of `lr`, or "strong_wolfe".

    Raises ValueError for more than one parameter group.
    """

    def __init__(
        self,
        params,
        lr=1,
        max_iter=20,
        max_eval=None,
        tolerance_grad=1e-7,
        tolerance_change=1e-9,
        history_size=100,
        line_search_fn=None,
    ):
        check_learning_rate(lr)
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    @no_grad()
    def step(self, closure):
        """Up to `max_iter` iterations. Returns the loss before them."""
        closure = enable_grad()(closure)
        group = self.param_groups[0]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss = closure()
        state["func_evals"] += 1
        gradient = self._flat_gradient()
        if _largest(gradient) <= group["tolerance_grad"]:
            return first_loss
        loss, evaluations = float(first_loss), 1
        for iteration in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            _set_direction(state, gradient, group["history_size"])
            direction = state["d"]
            state["prev_flat_grad"] = gradient.clone()
            state["prev_loss"] = loss
            slope = _dot(gradient, direction)
            size = number(group["lr"])
            if state["n_iter"] == 1:
                size *= min(1.0, 1.0 / gradient.abs().sum().item())
            state["t"] = size
            if slope > -group["tolerance_change"]:
                break
            last = iteration == group["max_iter"]
            loss, gradient, size, used = self._move(
                closure, loss, gradient, direction, size, slope, last, group["max_eval"] - evaluations
            )
            state["t"] = size
            evaluations += used
            state["func_evals"] += used
            if last or evaluations >= group["max_eval"] or _converged(state, group, loss, gradient):
                break
        return first_loss

    def _move(self, closure, loss, gradient, direction, size, slope, last, evaluations_left):
        """Step along `direction`; returns loss and gradient there, the step size and the evaluations it took."""
        rule = self.param_groups[0]["line_search_fn"]
        if rule is None:
            self._add(size, direction)
            if last:
                return loss, gradient, size, 0
            return float(closure()), self._flat_gradient(), size, 1
        if rule != "strong_wolfe":
            raise RuntimeError(f"only 'strong_wolfe' is supported. Received: {rule!r}")
        start = [param.clone() for param in self._params]

        def evaluate(t):
            self._add(t, direction)
            found = float(closure()), self._flat_gradient()
            for param, value in zip(self._params, start, strict=True):
                param.copy_(value)
            return found

        loss, gradient, size, used = strong_wolfe(
            evaluate, size, direction, loss, gradient, slope, max_steps=evaluations_left
        )
        self._add(size, direction)
        return loss, gradient, size, used

    def _flat_gradient(self):
        pieces = []
        for param in self._params:
            gradient = param.grad
            piece = param.detach() * 0 if gradient is None else gradient
            piece = view_as_real(piece) if piece.is_complex() else piece
            pieces.append(piece.reshape(-1))
        return cat(pieces).detach()

    def _add(self, size, direction):
        start = 0
        for param in self._params:
            values = view_as_real(param) if param.is_complex() else param
            stop = start + values.numel()
            values.add_(direction[start:stop].view(values.shape), alpha=size)
            start = stop


def _set_direction(state, gradient, history_size):
    """state["d"]: minus the gradient times the approximate inverse Hessian, after taking in the last step."""
    if state["n_iter"] == 1:
        state.update(d=gradient.neg(), old_dirs=[], old_stps=[], ro=[], H_diag=1)
        return
    change = gradient.sub(state["prev_flat_grad"])
    step = state["d"].mul(state["t"])
    curvature = _dot(change, step)
    changes, steps, inverses = state["old_dirs"], state["old_stps"], state["ro"]
    if curvature > 1e-10:
        if len(changes) == history_size:
            for history in (changes, steps, inverses):
                history.pop(0)
        changes.append(change)
        steps.append(step)
        inverses.append(1.0 / curvature)
        state["H_diag"] = curvature / _dot(change, change)
    weights = state.setdefault("al", [None] * history_size)
    direction = gradient.neg()
    for i in reversed(range(len(changes))):
        weights[i] = _dot(steps[i], direction) * inverses[i]
        direction.add_(changes[i], alpha=-weights[i])
    direction.mul_(state["H_diag"])
    for i in range(len(changes)):
        correction = _dot(changes[i], direction) * inverses[i]
        direction.add_(steps[i], alpha=weights[i] - correction)
    state["d"] = direction


def _converged(state, group, loss, gradient):
    return (
        _largest(gradient) <= group["tolerance_grad"]
        or _largest(state["d"]) * abs(state["t"]) <= group["tolerance_change"]
        or abs(loss - state["prev_loss"]) < group["tolerance_change"]
    )


def _dot(a, b):
    return (a * b).sum().item()


def _largest(vector):
    return vector.abs().max().item()
