"""What layers print and which errors they raise: the literals are real PyTorch's."""

import warnings

import numpy as np
import pytest

from msadapter import pytorch as torch
from msadapter.pytorch import nn
from msadapter.pytorch.nn import functional as F
from msadapter.pytorch.nn.attention import bias as attention_bias

# fmt: off
REPRS = [
    ('nn.Identity(1, a=2)', 'Identity()'),
    ('nn.Linear(2, 3)', 'Linear(in_features=2, out_features=3, bias=True)'),
    ('nn.Linear(2, 3, bias=False)', 'Linear(in_features=2, out_features=3, bias=False)'),
    ('nn.Bilinear(2, 3, 4)', 'Bilinear(in1_features=2, in2_features=3, out_features=4, bias=True)'),
    ('nn.Flatten()', 'Flatten(start_dim=1, end_dim=-1)'),
    ('nn.Unflatten(1, (2, 3))', 'Unflatten(dim=1, unflattened_size=(2, 3))'),
    ('nn.Conv1d(2, 4, 3)', 'Conv1d(2, 4, kernel_size=(3,), stride=(1,))'),
    ('nn.Conv2d(2, 4, (3, 5), stride=2, padding=1, dilation=(1, 2), groups=2, bias=False, padding_mode="reflect")', 'Conv2d(2, 4, kernel_size=(3, 5), stride=(2, 2), padding=(1, 1), dilation=(1, 2), groups=2, bias=False, padding_mode=reflect)'),
    ('nn.Conv2d(2, 4, 3, padding="same")', 'Conv2d(2, 4, kernel_size=(3, 3), stride=(1, 1), padding=same)'),
    ('nn.Conv3d(2, 4, 3)', 'Conv3d(2, 4, kernel_size=(3, 3, 3), stride=(1, 1, 1))'),
    ('nn.ConvTranspose2d(2, 4, 3, output_padding=1, stride=2)', 'ConvTranspose2d(2, 4, kernel_size=(3, 3), stride=(2, 2), output_padding=(1, 1))'),
    ('nn.MaxPool1d(2)', 'MaxPool1d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)'),
    ('nn.MaxPool2d((3, 2), stride=1, padding=1, ceil_mode=True)', 'MaxPool2d(kernel_size=(3, 2), stride=1, padding=1, dilation=1, ceil_mode=True)'),
    ('nn.AvgPool1d(2)', 'AvgPool1d(kernel_size=(2,), stride=(2,), padding=(0,))'),
    ('nn.AvgPool2d(2)', 'AvgPool2d(kernel_size=2, stride=2, padding=0)'),
    ('nn.AdaptiveAvgPool2d((None, 7))', 'AdaptiveAvgPool2d(output_size=(None, 7))'),
    ('nn.AdaptiveMaxPool1d(5)', 'AdaptiveMaxPool1d(output_size=5)'),
    ('nn.MaxUnpool2d(2)', 'MaxUnpool2d(kernel_size=(2, 2), stride=(2, 2), padding=(0, 0))'),
    ('nn.LPPool2d(2, 3)', 'LPPool2d(norm_type=2, kernel_size=3, stride=None, ceil_mode=False)'),
    ('nn.FractionalMaxPool2d(2, output_ratio=0.5)', 'FractionalMaxPool2d()'),
    ('nn.BatchNorm2d(4)', 'BatchNorm2d(4, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)'),
    ('nn.BatchNorm1d(4, affine=False, momentum=None)', 'BatchNorm1d(4, eps=1e-05, momentum=None, affine=False, bias=False, track_running_stats=True)'),
    ('nn.InstanceNorm1d(4)', 'InstanceNorm1d(4, eps=1e-05, momentum=0.1, affine=False, bias=False, track_running_stats=False)'),
    ('nn.LayerNorm((3, 4))', 'LayerNorm((3, 4), eps=1e-05, elementwise_affine=True, bias=True)'),
    ('nn.LayerNorm(4, elementwise_affine=False)', 'LayerNorm((4,), eps=1e-05, elementwise_affine=False, bias=False)'),
    ('nn.GroupNorm(2, 4)', 'GroupNorm(2, 4, eps=1e-05, affine=True, bias=True)'),
    ('nn.RMSNorm(4)', 'RMSNorm((4,), eps=None, elementwise_affine=True)'),
    ('nn.LocalResponseNorm(2)', 'LocalResponseNorm(2, alpha=0.0001, beta=0.75, k=1.0)'),
    ('nn.Dropout(0.3)', 'Dropout(p=0.3, inplace=False)'),
    ('nn.Dropout2d()', 'Dropout2d(p=0.5, inplace=False)'),
    ('nn.AlphaDropout(0.2)', 'AlphaDropout(p=0.2, inplace=False)'),
    ('nn.Embedding(5, 3, padding_idx=-1, max_norm=1.0, sparse=True)', 'Embedding(5, 3, padding_idx=4, max_norm=1.0, sparse=True)'),
    ('nn.EmbeddingBag(5, 3, mode="sum")', "EmbeddingBag(5, 3, mode='sum')"),
    ('nn.ReLU(inplace=True)', 'ReLU(inplace=True)'),
    ('nn.ReLU6()', 'ReLU6()'),
    ('nn.Hardtanh(-2, 2)', 'Hardtanh(min_val=-2, max_val=2)'),
    ('nn.LeakyReLU(0.2, True)', 'LeakyReLU(negative_slope=0.2, inplace=True)'),
    ('nn.ELU()', 'ELU(alpha=1.0)'),
    ('nn.CELU(0.5)', 'CELU(alpha=0.5)'),
    ('nn.SELU()', 'SELU()'),
    ('nn.GELU("tanh")', "GELU(approximate='tanh')"),
    ('nn.GLU()', 'GLU(dim=-1)'),
    ('nn.Softplus()', 'Softplus(beta=1.0, threshold=20.0)'),
    ('nn.Hardshrink()', 'Hardshrink(0.5)'),
    ('nn.Softshrink(0.3)', 'Softshrink(0.3)'),
    ('nn.Threshold(0.1, 20)', 'Threshold(threshold=0.1, value=20)'),
    ('nn.PReLU(3)', 'PReLU(num_parameters=3)'),
    ('nn.RReLU()', 'RReLU(lower=0.125, upper=0.3333333333333333)'),
    ('nn.Softmax(dim=1)', 'Softmax(dim=1)'),
    ('nn.LogSoftmax()', 'LogSoftmax(dim=None)'),
    ('nn.Softmax2d()', 'Softmax2d()'),
    ('nn.Hardsigmoid()', 'Hardsigmoid()'),
    ('nn.Sigmoid()', 'Sigmoid()'),
    ('nn.Tanh()', 'Tanh()'),
    ('nn.CrossEntropyLoss(label_smoothing=0.1)', 'CrossEntropyLoss()'),
    ('nn.MSELoss(reduction="sum")', 'MSELoss()'),
    ('nn.BCEWithLogitsLoss()', 'BCEWithLogitsLoss()'),
    ('nn.HuberLoss()', 'HuberLoss()'),
    ('nn.CTCLoss()', 'CTCLoss()'),
    ('nn.TripletMarginWithDistanceLoss()', 'TripletMarginWithDistanceLoss(\n  (distance_function): PairwiseDistance()\n)'),
    ('nn.CosineSimilarity()', 'CosineSimilarity()'),
    ('nn.PairwiseDistance()', 'PairwiseDistance()'),
    ('nn.Upsample(scale_factor=2, mode="bilinear")', "Upsample(scale_factor=2.0, mode='bilinear')"),
    ('nn.Upsample((2, 3))', "Upsample(size=(2, 3), mode='nearest')"),
    ('nn.UpsamplingNearest2d(scale_factor=3)', "UpsamplingNearest2d(scale_factor=3.0, mode='nearest')"),
    ('nn.PixelShuffle(2)', 'PixelShuffle(upscale_factor=2)'),
    ('nn.PixelUnshuffle(2)', 'PixelUnshuffle(downscale_factor=2)'),
    ('nn.ChannelShuffle(2)', 'ChannelShuffle(groups=2)'),
    ('nn.Fold((4, 5), 2)', 'Fold(output_size=(4, 5), kernel_size=2, dilation=1, padding=0, stride=1)'),
    ('nn.Unfold(2, padding=1)', 'Unfold(kernel_size=2, dilation=1, padding=1, stride=1)'),
    ('nn.ZeroPad2d(1)', 'ZeroPad2d((1, 1, 1, 1))'),
    ('nn.ConstantPad1d(2, 3.5)', 'ConstantPad1d(padding=(2, 2), value=3.5)'),
    ('nn.ReflectionPad2d((1, 2, 3, 4))', 'ReflectionPad2d((1, 2, 3, 4))'),
    ('nn.CircularPad3d(1)', 'CircularPad3d((1, 1, 1, 1, 1, 1))'),
    ('nn.MultiheadAttention(4, 2)', 'MultiheadAttention(\n  (out_proj): NonDynamicallyQuantizableLinear(in_features=4, out_features=4, bias=True)\n)'),
    ('nn.TransformerEncoderLayer(4, 2, 8)', 'TransformerEncoderLayer(\n  (self_attn): MultiheadAttention(\n    (out_proj): NonDynamicallyQuantizableLinear(in_features=4, out_features=4, bias=True)\n  )\n  (linear1): Linear(in_features=4, out_features=8, bias=True)\n  (dropout): Dropout(p=0.1, inplace=False)\n  (linear2): Linear(in_features=8, out_features=4, bias=True)\n  (norm1): LayerNorm((4,), eps=1e-05, elementwise_affine=True, bias=True)\n  (norm2): LayerNorm((4,), eps=1e-05, elementwise_affine=True, bias=True)\n  (dropout1): Dropout(p=0.1, inplace=False)\n  (dropout2): Dropout(p=0.1, inplace=False)\n)'),
    ('nn.LSTM(3, 4, num_layers=2)', 'LSTM(3, 4, num_layers=2)'),
    ('nn.LSTMCell(3, 4)', 'LSTMCell(3, 4)'),
    ('nn.SyncBatchNorm(3)', 'SyncBatchNorm(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)'),
    ('nn.LinearCrossEntropyLoss(3, 4)', 'LinearCrossEntropyLoss(\n  in_features=3, num_classes=4, out_features=(), bias=False, reduction=mean, ignore_index=None, label_smoothing=0.0, options=None\n  (linear): Linear(in_features=3, out_features=4, bias=False)\n)'),
]
ERRORS = [
    ('nn.Conv2d(3, 4, 3, groups=2)', ValueError, 'in_channels must be divisible by groups'),
    ('nn.Conv2d(4, 3, 3, groups=2)', ValueError, 'out_channels must be divisible by groups'),
    ('nn.Conv2d(4, 4, 3, groups=0)', ValueError, 'groups must be a positive integer'),
    ('nn.Conv2d(4, 4, 3, stride=2, padding="same")', ValueError, "padding='same' is not supported for strided convolutions"),
    ('nn.ConvTranspose2d(4, 4, 3, padding_mode="reflect")', ValueError, 'Only "zeros" padding mode is supported for ConvTranspose2d'),
    ('nn.ConvTranspose2d(4, 4, 3, stride=2)(torch.ones(1, 4, 3, 3), output_size=(9, 9))', ValueError, 'requested an output size of (9, 9), but valid sizes range from [7, 7] to [8, 8] (for an input of torch.Size([3, 3]))'),
    ('nn.ConvTranspose2d(4, 4, 3)(torch.ones(1, 4, 3, 3), output_size=(9,))', ValueError, 'ConvTranspose2D: for 4D input, output_size must have 2 or 4 elements (got 1)'),
    ('nn.BatchNorm1d(3)(torch.ones(2, 3, 4, 5))', ValueError, 'expected 2D or 3D input (got 4D input)'),
    ('nn.BatchNorm2d(3)(torch.ones(2, 3))', ValueError, 'expected 4D input (got 2D input)'),
    ('nn.InstanceNorm2d(3, affine=True)(torch.ones(2, 4, 3, 3))', ValueError, "expected input's size at dim=1 to match num_features (3), but got: 4."),
    ('nn.GroupNorm(3, 4)', ValueError, 'num_channels (4) must be divisible by num_groups (3)'),
    ('nn.Dropout(1.5)', ValueError, 'dropout probability has to be between 0 and 1, but got 1.5'),
    ('nn.Embedding(3, 2, padding_idx=3)', AssertionError, 'Padding_idx must be within num_embeddings'),
    ('nn.Embedding.from_pretrained(torch.ones(3))', AssertionError, 'Embeddings parameter is expected to be 2-dimensional'),
    ('nn.Unflatten(1, [2, "a"])', TypeError, 'unflattened_size must be tuple of ints, but found element of type str at pos 1'),
    ('nn.Unflatten(1, 3)', TypeError, 'unflattened_size must be a tuple of ints, but found type int'),
    ('nn.Hardtanh(2, 1)', AssertionError, 'max_val (1) must be greater than min_val (2)'),
    ('nn.Bilinear(0, 1, 1)', ValueError, 'in1_features must be > 0, but got (in1_features=0)'),
    ('nn.MultiheadAttention(5, 2)', AssertionError, 'embed_dim must be divisible by num_heads'),
    ('nn.MultiheadAttention(0, 2)', ValueError, 'embed_dim and num_heads must be greater than 0, got embed_dim=0 and num_heads=2 instead'),
    ('nn.MultiheadAttention(4, 2)(torch.ones(2, 2, 4), torch.ones(2, 4), torch.ones(2, 4))', AssertionError, 'For batched (3-D) `query`, expected `key` and `value` to be 3-D but found 2-D and 2-D tensors respectively'),
    ('nn.MultiheadAttention(4, 2)(torch.ones(3, 2, 4), torch.ones(3, 2, 4), torch.ones(3, 2, 4), attn_mask=torch.ones(2, 2).bool())', RuntimeError, 'The shape of the 2D attn_mask is torch.Size([2, 2]), but should be (3, 3).'),
    ('nn.MultiheadAttention(4, 2)(torch.ones(3, 4), torch.ones(3, 4), torch.ones(3, 4), is_causal=True)', RuntimeError, 'Need attn_mask if specifying the is_causal hint. You may use the Transformer module method `generate_square_subsequent_mask` to create this mask.'),
    ('nn.TransformerEncoderLayer(4, 2, activation="x")', RuntimeError, 'activation should be relu/gelu, not x'),
    ('nn.MultiMarginLoss(p=3)', ValueError, 'only p == 1 and p == 2 supported'),
    ('nn.TripletMarginLoss(margin=0)', ValueError, 'TripletMarginLoss: expected margin to be greater than 0, got 0 instead'),
    ('nn.HuberLoss(delta="a")', TypeError, "delta must be a float or int, got: <class 'str'>"),
    ('nn.FractionalMaxPool2d(2)', ValueError, 'FractionalMaxPool2d requires specifying either an output size, or a pooling ratio'),
    ('nn.CircularPad2d(1)(torch.ones(2, 2))', ValueError, 'expected 3D or 4D input (got 2D input)'),
    ('nn.Softmax2d()(torch.ones(2))', ValueError, 'Softmax2d: expected input to be 3D or 4D, got 1D instead'),
    ('nn.Linear(2, 3)(torch.ones(1, 4))', RuntimeError, 'mat1 and mat2 shapes cannot be multiplied (1x4 and 2x3)'),
]
# fmt: on


@pytest.mark.parametrize(("expression", "text"), REPRS)
def test_repr(expression, text):
    assert repr(evaluate(expression)) == text


@pytest.mark.parametrize(("expression", "error", "message"), ERRORS)
def test_errors(expression, error, message):
    with pytest.raises(error) as raised:
        evaluate(expression)
    assert str(raised.value) == message


def evaluate(expression):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(expression, {"nn": nn, "torch": torch})


def test_convolution_padding_modes_pad_first():
    x = torch.arange(9.0).reshape(1, 1, 3, 3) ** 2
    for mode, total in (("zeros", 1064), ("reflect", 1656), ("replicate", 1836), ("circular", 1836)):
        net = nn.Conv2d(1, 1, 3, padding=1, padding_mode=mode, bias=False)
        nn.init.ones_(net.weight)
        assert net(x).sum().item() == total


def test_transposed_convolution_reaches_the_output_size_asked_for():
    net = nn.ConvTranspose2d(1, 1, 3, stride=2)
    x = torch.ones(1, 1, 3, 3)
    assert net(x).shape == (1, 1, 7, 7)
    assert net(x, output_size=(8, 7)).shape == (1, 1, 8, 7)


def test_batch_norm_buffers():
    net = nn.BatchNorm1d(2, momentum=None)
    x = torch.tensor([[0.0, 1.0], [2.0, 5.0]])
    net(x)
    net(x + 1)
    assert net.num_batches_tracked.item() == 2
    assert net.running_mean.tolist() == [1.5, 3.5] and net.running_var.tolist() == [2, 8]
    old = {k: v for k, v in net.state_dict().items() if k != "num_batches_tracked"}
    net.load_state_dict(old)  # files of version 1 have no count
    synced = nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(net, nn.ReLU()))
    assert type(synced[0]) is nn.SyncBatchNorm and synced[0].running_mean is net.running_mean


def test_embedding_from_pretrained_is_frozen_and_padding_starts_at_zero():
    table = nn.Embedding.from_pretrained(torch.arange(6.0).reshape(3, 2))
    assert not table.weight.requires_grad
    assert table(torch.tensor([2, 0])).tolist() == [[4, 5], [0, 1]]
    assert nn.Embedding(3, 2, padding_idx=1).weight[1].tolist() == [0, 0]


def test_encoder_zeroes_padding_where_pytorch_computes_nested():
    torch.manual_seed(0)
    net = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 1).eval()
    x = torch.ones(1, 3, 4)
    padding = torch.tensor([[False, False, True]])
    with torch.no_grad():
        assert net(x, src_key_padding_mask=padding)[0, 2].tolist() == [0, 0, 0, 0]
    assert net(x, src_key_padding_mask=padding)[0, 2].abs().sum().item() > 0


def test_causal_mask_is_found():
    mask = nn.Transformer.generate_square_subsequent_mask(3)
    assert mask.tolist() == [[0, float("-inf"), float("-inf")], [0, 0, float("-inf")], [0, 0, 0]]
    attention = nn.MultiheadAttention(4, 2, batch_first=True).eval()
    x = torch.arange(24.0).reshape(2, 3, 4) / 10
    with_weights, weights = attention(x, x, x, attn_mask=mask)
    hinted, _ = attention(x, x, x, attn_mask=mask, need_weights=False, is_causal=True)
    assert torch.allclose(with_weights, hinted, atol=1e-6)
    assert weights[0, 0].tolist() == [1, 0, 0]


def test_adaptive_softmax():
    layer = nn.AdaptiveLogSoftmaxWithLoss(4, 10, [3, 6], div_value=2.0)
    x = torch.randn(5, 4, requires_grad=True)
    target = torch.tensor([0, 4, 9, 2, 6])
    log_prob = layer.log_prob(x)
    np.testing.assert_allclose(log_prob.exp().sum(1).tolist(), [1] * 5, rtol=1e-5)
    assert layer.predict(x).tolist() == log_prob.argmax(1).tolist()
    output, loss = layer(x, target)
    np.testing.assert_allclose(output.tolist(), log_prob[range(5), target].tolist(), rtol=1e-5)
    np.testing.assert_allclose(loss.item(), -output.mean().item(), rtol=1e-6)
    loss.backward()
    assert layer.tail[1][0].weight.grad.abs().sum() > 0
    np.testing.assert_allclose(layer(x[1], target[1]).output.item(), output[1].item(), rtol=1e-6)
    with pytest.raises(RuntimeError, match=r"Target values should be in \[0, 9\]"):
        layer(x, target + 1)
    with pytest.raises(ValueError, match="cutoffs should be a sequence of unique"):
        nn.AdaptiveLogSoftmaxWithLoss(4, 10, [6, 3])


@pytest.mark.parametrize("bias", [attention_bias.causal_lower_right, attention_bias.causal_upper_left])
def test_causal_biases(bias):
    q, k, v = torch.randn(1, 2, 3, 4), torch.randn(1, 2, 5, 4), torch.randn(1, 2, 5, 4)
    mask = bias(3, 5)
    diagonal = 2 if mask.variant == attention_bias.CausalVariant.LOWER_RIGHT else 0
    expected = F.scaled_dot_product_attention(q, k, v, torch.ones(3, 5, dtype=torch.bool).tril(diagonal))
    with nn.attention.sdpa_kernel([nn.attention.SDPBackend.MATH]):
        found = F.scaled_dot_product_attention(q, k, v, mask)
    np.testing.assert_allclose(found.tolist(), expected.tolist(), rtol=1e-5)
    assert type(found) is torch.Tensor
    with pytest.raises(ValueError, match="should not be used with causal=True"):
        F.scaled_dot_product_attention(q, k, v, mask, is_causal=True)


def test_gradients_of_convolutions():
    x, w = torch.randn(2, 4, 5, 6, requires_grad=True), torch.randn(6, 2, 3, 2, requires_grad=True)
    settings = {"stride": 2, "padding": 1, "groups": 2}
    out = F.conv2d(x, w, **settings)
    grad = torch.ones_like(out)
    out.backward(grad)
    assert nn.grad.conv2d_input(x.shape, w, grad, **settings).tolist() == x.grad.tolist()
    assert nn.grad.conv2d_weight(x, w.shape, grad, **settings).tolist() == w.grad.tolist()


def test_factory_kwargs():
    assert nn.factory_kwargs({"dtype": 1, "factory_kwargs": {"device": 2}}) == {"dtype": 1, "device": 2}
    with pytest.raises(TypeError, match="dtype specified twice"):
        nn.factory_kwargs({"dtype": 1, "factory_kwargs": {"dtype": 2}})


def test_cross_map_lrn_counts_the_first_channel_as_pytorch_does():
    layer = nn.CrossMapLRN2d(3, alpha=3.0, beta=1.0, k=0.0)
    found = layer(torch.arange(1.0, 6).view(1, 5, 1, 1)).flatten()
    np.testing.assert_allclose(found.tolist(), [1 / 5, 2 / 14, 3 / 30, 4 / 51, 5 / 42], rtol=1e-6)
    with pytest.raises(ValueError, match="Expected input to be 4D, got 3D"):
        layer(torch.ones(1, 2, 3))
