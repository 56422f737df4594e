"""NumPy kernels that stand in for MindSpore's on the CPU: arrays in, arrays out, nothing of MindSpore in them.

Each is here because MindSpore's kernel is missing, wrong, or at least three times slower; its docstring says which.
Arguments arrive canonical (one entry per spatial dimension, dimensions counted from the front) and already checked.
"""
