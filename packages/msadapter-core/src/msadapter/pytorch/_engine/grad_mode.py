"""no_grad, enable_grad, set_grad_enabled and inference_mode: contexts and decorators over the thread's grad state."""

import functools
import inspect
import threading

from msadapter.pytorch._engine import native

is_grad_enabled = native.is_grad_enabled
_inference = threading.local()


class _GradMode:
    """Base of the grad-state contexts: enters a state, restores the one before, decorates functions and generators."""

    _mode = False

    def __enter__(self):
        self._previous = native.is_grad_enabled()
        native.set_grad_enabled(self._mode)

    def __exit__(self, *exception):
        native.set_grad_enabled(self._previous)

    def clone(self):
        return type(self)()

    def __call__(self, function):
        if inspect.isclass(function):
            function.__init__ = self(function.__init__)
            return function
        if inspect.isgeneratorfunction(function):
            return _decorate_generator(self.clone, function)

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            with self.clone():
                return function(*args, **kwargs)

        return wrapper


def _decorate_generator(make_context, function):
    """A generator whose body runs in the context, and whose caller does not between two values."""

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        generator = function(*args, **kwargs)
        step, value = generator.send, None
        while True:
            try:
                with make_context():
                    item = step(value)
            except StopIteration as stop:
                return stop.value
            try:
                step, value = generator.send, (yield item)
            except GeneratorExit:
                with make_context():
                    generator.close()
                raise
            except BaseException as error:
                step, value = generator.throw, error

    return wrapper


class no_grad(_GradMode):
    """Operators inside record nothing: their results do not require grad."""

    def __new__(cls, function=None):
        instance = super().__new__(cls)
        return instance if function is None else _GradMode.__call__(instance, function)


class enable_grad(no_grad):
    """Operators inside record again, also within `no_grad`."""

    _mode = True


class set_grad_enabled(_GradMode):
    """Set the grad state at once; as a context, restore it at the end."""

    def __init__(self, mode):
        if not isinstance(mode, bool):
            raise TypeError(
                f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type(mode).__name__}"
            )
        self._mode = mode
        self._previous = native.is_grad_enabled()
        native.set_grad_enabled(self._mode)

    def __enter__(self):
        native.set_grad_enabled(self._mode)

    def clone(self):
        return type(self)(self._mode)

    def __call__(self, function):
        native.set_grad_enabled(self._previous)  # the decorator form changes only the decorated calls
        return super().__call__(function)


class inference_mode(_GradMode):
    """`no_grad` that also answers `is_inference_mode_enabled()`; `inference_mode(False)` does nothing."""

    def __new__(cls, mode=True):
        instance = super().__new__(cls)
        if callable(mode):
            instance._active = True
            return _GradMode.__call__(instance, mode)
        return instance

    def __init__(self, mode=True):
        self._active = mode is not False

    def __enter__(self):
        self._was_inference = is_inference_mode_enabled()
        self._previous = native.is_grad_enabled()
        _inference.enabled = self._active
        if self._active:
            native.set_grad_enabled(False)

    def __exit__(self, *exception):
        _inference.enabled = self._was_inference
        native.set_grad_enabled(self._previous)

    def clone(self):
        return type(self)(self._active)


def is_inference_mode_enabled():
    return getattr(_inference, "enabled", False)
