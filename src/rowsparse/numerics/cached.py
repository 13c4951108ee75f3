"""Values computed once per object, without a lock.

Before Python 3.12 ``functools.cached_property`` holds one lock for all objects of a class while it
computes. Fits in several threads would wait for each other, and a process that is forked while
another thread computes would wait for ever.
"""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property as cached_property
else:

    class cached_property:
        """``functools.cached_property`` as it is from Python 3.12 on."""

        def __init__(self, function):
            self.function = function
            self.__doc__ = function.__doc__

        def __set_name__(self, owner, name):
            self.name = name

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            value = self.function(instance)
            instance.__dict__[self.name] = value
            return value
