from collections.abc import Iterable
from typing import final

from typing_extensions import Buffer

@final
class Buffers: ...

def keccak256(data: Buffer) -> bytes: ...
def keccak256_many(items: Iterable[Buffer]) -> list[bytes]: ...
