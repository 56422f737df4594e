"""What msadapter adds to one MindSpore operator, and to a small network forward and backward."""

import mindspore as ms
import numpy as np
from measure import alternate, finish, judge

import msadapter.pytorch as torch
from msadapter.pytorch._engine import native


def operators():
    a, b = torch.ones(8, 8), torch.ones(8, 8)
    raw_a, raw_b = ms.Tensor(np.ones((8, 8), "float32")), ms.Tensor(np.ones((8, 8), "float32"))
    # The operator inside takes our tensors: MindSpore checks the type of a subclass 1 to 2 us an argument longer.
    pairs = {
        "add": (5, lambda: torch.add(a, b), lambda: ms.ops.add(a, b)),
        "exp": (5, lambda: torch.exp(a), lambda: ms.ops.exp(a)),
        "view": (6, lambda: a.view(64), lambda: native.view(a, (64,))),
        "getitem": (6, lambda: a[1:3], lambda: native.getitem(a, slice(1, 3))),
    }
    for name, (limit, ours, inside) in pairs.items():
        adapter, operator = alternate(ours, inside)
        judge(f"{name} 8x8 over the MindSpore operator", adapter - operator, limit, "us more")
    adapter, plain = alternate(lambda: torch.add(a, b), lambda: ms.ops.add(raw_a, raw_b))
    print(f"add 8x8: {adapter:.1f} us; MindSpore on its own tensors {plain:.1f} us")


def network():
    """Fourteen operators forward, then backward; the raw side uses the engine without our tensors."""
    generator = np.random.default_rng(0)
    weights = [generator.standard_normal((16, 16)).astype("float32") * 0.2 for _ in range(4)]
    data = generator.standard_normal((8, 16)).astype("float32")
    ours = [torch.from_numpy(w.copy()).requires_grad_() for w in weights]
    x = torch.from_numpy(data)

    def adapter_step():
        h = x
        for w in ours:
            h = torch.relu(torch.add(torch.matmul(h, w), 1.0))
        torch.sum(torch.mul(h, h)).backward()
        for w in ours:
            w.grad = None

    raw = [ms.Tensor(w) for w in weights]
    for w in raw:
        native.set_requires_grad(w, True)
    raw_x, one = ms.Tensor(data), ms.Tensor(1.0)
    matmul = ms.ops.MatMul()

    def raw_step():
        native.set_recording(True)
        h = raw_x
        for w in raw:
            h = ms.ops.relu(ms.ops.add(matmul(h, w), 1.0))
        native.run_backward(
            (ms.ops.sum(ms.ops.mul(h, h)),),
            (one,),
            False,
            False,
            (),
            allow_unreachable=True,
            accumulate_grad=True,
        )
        for w in raw:
            native.set_raw_grad(w, None)

    adapter, plain = alternate(adapter_step, raw_step, rounds=30, calls=10)
    judge("MLP forward and backward over raw MindSpore", adapter / plain, 1.15, "times")


if __name__ == "__main__":
    operators()
    network()
    finish()
