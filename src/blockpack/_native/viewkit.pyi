from typing import final

@final
class Source: ...
