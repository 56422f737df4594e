"""torch.version: the PyTorch release whose API this is, and what PyTorch was built with, which is nothing here."""

__version__ = "2.13.0+msadapter"
cuda = hip = xpu = None
debug = False
