"""The cache of decoded groups that a store's readers share."""

from blockpack._native.cache import GroupCache

__all__ = ["GroupCache"]
