"""What hooks need of `functools`, which loads `collections` and more: a twentieth of a hook."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from functools import cache as cache
    from functools import cached_property as cached_property
    from functools import lru_cache as lru_cache
    from functools import partial as partial
else:
    try:
        from _functools import _lru_cache_wrapper
        from _functools import partial as partial
    except ImportError:
        from functools import cache, cached_property, lru_cache
        from functools import partial as partial
    else:

        def lru_cache(maxsize=128, typed=False):
            def keep(function):
                # The last argument makes what `cache_info` returns.
                kept = _lru_cache_wrapper(function, maxsize, typed, lambda *counts: counts)
                if hasattr(function, "__name__"):
                    kept.__wrapped__, kept.__name__ = function, function.__name__
                    kept.__module__, kept.__doc__ = function.__module__, function.__doc__
                return kept

            return keep

        cache = lru_cache(maxsize=None)

        class cached_property:
            def __init__(self, function):
                self.function, self.__doc__ = function, function.__doc__

            def __set_name__(self, _owner, name):
                self.name = name

            def __get__(self, instance, _owner=None):
                if instance is None:
                    return self
                value = instance.__dict__[self.name] = self.function(instance)
                return value
