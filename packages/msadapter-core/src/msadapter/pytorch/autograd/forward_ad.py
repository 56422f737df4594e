"""torch.autograd.forward_ad: forward mode, which MindSpore's dynamic engine does not have."""


class dual_level:
    """Not available; `torch.autograd.functional.jvp` computes the same product by differentiating twice."""

    def __init__(self):
        raise NotImplementedError(
            "torch.autograd.forward_ad is not supported: MindSpore's dynamic engine has no forward mode. "
            "Write torch.autograd.functional.jvp(func, inputs, v) instead."
        )
