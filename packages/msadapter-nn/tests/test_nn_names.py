"""Names that torch.nn and torch.optim do not have: what the error says."""

import pytest

from msadapter.pytorch import nn, optim


@pytest.mark.parametrize(
    ("module", "name", "detail"),
    [
        (nn, "Linera", r"PyTorch 2.13.0 has no such name either; did you mean torch.nn.Linear\?"),
        (nn, "qat", "PyTorch 2.13.0 has torch.nn.qat; msadapter does not have it yet"),
        (nn.functional, "softmx", r"did you mean torch.nn.functional.softmax\?"),
        (nn.init, "zeroes_", r"did you mean torch.nn.init.zeros_\?"),
        (nn.utils, "clip_grad_nrm_", r"did you mean torch.nn.utils.clip_grad_norm_\?"),
        (optim, "Addam", r"did you mean torch.optim.Adam\?"),
        (optim.lr_scheduler, "StepLr", r"did you mean torch.optim.lr_scheduler.StepLR\?"),
    ],
)
def test_an_unknown_name_says_what_is_there(module, name, detail):
    with pytest.raises(AttributeError, match=detail):
        getattr(module, name)
