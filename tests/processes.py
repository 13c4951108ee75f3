"""Code in a process of its own, and obstacles that can be put in its way."""

import os
import subprocess
import sys

NO_CACHE = """
import numba.core.caching as caching
def refuse(*_, **__):
    raise OSError("read-only file system")
def all_subclasses(cls):
    return {cls}.union(*(all_subclasses(sub) for sub in cls.__subclasses__()))
for locator in all_subclasses(caching._CacheLocator):
    locator.ensure_cache_path = refuse
    locator.check_cachable_path = refuse
"""


def run(*code, **environment):
    """Run code in a new process, give back what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(code)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
