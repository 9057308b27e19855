"""The version of this package, which is that of the jars it carries."""

from importlib.metadata import version

__version__ = version("sparklatency")
