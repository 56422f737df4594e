"""The engine: PyTorch's autograd, views and in-place writes over MindSpore's dynamic C++ autograd.

`native` is the only module that names MindSpore's private calls. Nothing here knows an operator by name.
"""
