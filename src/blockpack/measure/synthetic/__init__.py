"""A deterministic chain of made-up blocks with the statistics of real dense ones."""

from blockpack.measure.synthetic.chain import SyntheticChain

__all__ = ["SyntheticChain"]
