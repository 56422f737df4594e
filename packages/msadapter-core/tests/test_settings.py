"""torch.cuda and torch.npu without a device, torch.backends, and settings of the process."""

import pytest

import msadapter.pytorch as torch


@pytest.mark.parametrize("module", ["cuda", "npu"])
def test_without_a_device_questions_are_answered_and_help_is_harmless(module):
    module = getattr(torch, module)
    assert module.is_available() is False and module.device_count() == 0
    before = torch.get_rng_state()
    module.manual_seed(1)
    module.manual_seed_all(1)
    module.empty_cache()
    assert torch.get_rng_state().equal(before)
    assert module.memory_allocated() == 0
    with module.device(0):
        pass
    for call in (
        module.current_device,
        module.synchronize,
        module.get_device_name,
        lambda: module.set_device(0),
    ):
        with pytest.raises(AssertionError, match="has no device here"):
            call()


def test_the_usual_choice_of_a_device():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    assert torch.ones(2).to(device).device == torch.device("cpu")


def test_a_name_that_torch_cuda_lacks():
    with pytest.raises(AttributeError, match="msadapter.pytorch.cuda"):
        torch.cuda.nonsense  # noqa: B018


def test_backends_keep_what_scripts_set():
    torch.backends.cudnn.benchmark = True
    assert torch.backends.cudnn.benchmark is True
    assert not torch.backends.cudnn.is_available() and not torch.backends.mps.is_available()


def test_threads_and_determinism():
    count = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(count)
    with pytest.raises(RuntimeError, match="positive integer"):
        torch.set_num_threads(0)
    torch.use_deterministic_algorithms(True, warn_only=True)
    assert torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(False)
    with pytest.raises(ValueError, match="Received: 'low'"):
        torch.set_float32_matmul_precision("low")


def test_the_version_is_the_pytorch_release():
    assert torch.__version__.split("+")[0] == "2.13.0" and torch.version.cuda is None
