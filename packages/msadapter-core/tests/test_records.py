"""What follows from every operator record, whatever the operator."""

import inspect

import pytest

import msadapter.pytorch as torch
from msadapter.pytorch._missing import pytorch_names
from msadapter.pytorch._ops.registry import RECORDS, exports, op

EVERY = pytest.mark.parametrize("record", RECORDS.values(), ids=lambda r: r.qualified)


@EVERY
def test_function_and_method_are_one(record):
    if record.method:
        assert all(
            inspect.getattr_static(torch.Tensor, name) is record.public
            for name in (record.name, *record.aliases)
        )
    if record.function:
        assert exports(record.namespace)[record.name] is record.public


@EVERY
def test_the_function_shows_the_bodys_signature_and_says_what_it_does(record):
    assert list(inspect.signature(record.public).parameters) == list(record.parameters)
    assert (record.public.__doc__ or "").strip(), "no docstring"
    assert record.public.__name__ == record.name


@EVERY
def test_out_is_no_parameter_of_a_body(record):
    assert "out" not in record.parameters


@EVERY
def test_an_inplace_form_has_the_underscore(record):
    if record.inplace and record.method:
        assert getattr(torch.Tensor, record.name + "_") is record.inplace_public


def test_a_second_record_of_one_name_is_an_error():
    with pytest.raises(ValueError, match="operator add is registered twice"):

        @op
        def add(input):
            """Again."""


def test_public_names_are_pytorchs():
    known = pytorch_names()
    strange = {
        record.qualified
        for record in RECORDS.values()
        if record.function and record.namespace in known and record.name not in known[record.namespace]
    }
    assert strange == set()


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: torch.add(torch.ones(2), "x"),
            r"add\(\): argument 'other' \(position 2\) must be Tensor, not str",
        ),
        (
            lambda: torch.add(torch.ones(2)),
            r"add\(\) received an invalid combination of arguments - got \(Tensor",
        ),
        (
            lambda: torch.add(torch.ones(2), 1, wrong=3),
            r"add\(\) received an invalid combination of arguments",
        ),
        (lambda: torch.ones(2) + "x", "unsupported operand"),
    ],
)
def test_a_wrong_call_is_a_type_error_that_names_the_operator(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_operands_that_do_not_broadcast():
    with pytest.raises(
        RuntimeError,
        match=r"The size of tensor a \(2\) must match the size of tensor b \(3\) at non-singleton dimension 0",
    ):
        torch.ones(2) + torch.ones(3)


def test_keyword_aliases():
    x = torch.ones(2, 3)
    assert torch.sum(x, axis=1, keepdims=True).shape == (2, 1)
    assert torch.sum(input=x, dim=0).tolist() == [2.0, 2.0, 2.0]


def test_out_is_resized_cast_and_checked():
    a = torch.tensor([1.0, 2.0])
    out = torch.empty(0)
    assert torch.add(a, a, out=out) is out and out.tolist() == [2.0, 4.0]
    wide = torch.zeros(2, dtype=torch.float64)
    torch.add(a, a, out=wide)
    assert wide.dtype == torch.float64 and wide.tolist() == [2.0, 4.0]
    with pytest.warns(UserWarning, match="was resized"):
        torch.add(a, a, out=torch.zeros(3))
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        torch.add(a, a, out=torch.zeros(2, dtype=torch.int64))
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        torch.add(a.clone().requires_grad_(), a, out=torch.zeros(2))
    with pytest.raises(TypeError, match="argument 'out' must be Tensor, not int"):
        torch.add(a, a, out=3)


def test_a_subclass_among_the_arguments_of_an_inplace_method_is_asked():
    class Own(torch.Tensor):
        pass

    other = torch.ones(2).as_subclass(Own)
    assert type(torch.zeros(2).add_(other)) is Own
    assert type(torch.zeros(2).add_(other=other)) is Own


@pytest.mark.parametrize("call", [torch.transpose, torch.unsqueeze, torch.Tensor.view])
def test_a_view_without_arguments_is_a_type_error(call):
    with pytest.raises(TypeError):
        call()


@pytest.mark.parametrize(
    "split, node",
    [
        (lambda x: x.chunk(2), "SplitBackward0"),
        (lambda x: x.split(2), "SplitBackward0"),
        (lambda x: x.unbind(), "UnbindBackward0"),
        (lambda x: x.tensor_split(2), "SliceBackward0"),
    ],
)
def test_every_output_of_a_split_names_its_node(split, node):
    parts = split(torch.ones(4, requires_grad=True) * 1)
    assert {part.grad_fn.name() for part in parts} == {node}
