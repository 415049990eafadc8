from collections.abc import Iterable
from typing import Any

from typing_extensions import Buffer

def ordered_root(values: Iterable[Buffer]) -> bytes: ...
def check_roots(headers: list[Buffer], bodies: list[Buffer], receipts: list[Buffer | None]
                ) -> list[tuple[int, str, Any, Any]]: ...
