"""RLP (Ethereum yellow paper, appendix B) to nested lists of bytes and back, at C speed.

Typed transactions (EIP-2718) are strings inside of a block; ``decode_block`` opens them.
"""

from blockpack._native.nested import DEPTH_MAX, decode, decode_block, encode

__all__ = ["DEPTH_MAX", "decode", "decode_block", "encode"]
