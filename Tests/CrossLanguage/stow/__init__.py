"""A decoder of the Stow format, version 1, written from FORMAT.md alone.

It is strict: beyond what every decoder has to refuse, it refuses whatever FORMAT.md calls not valid.
"""

from .context import Context, crc_32c
from .errors import StowError
from .logs import read_log
from .message import decode
from .streams import read_stream
from .values import URL, Date, Decimal, Float, Nil, SingleNaN

__all__ = [
    "URL", "Context", "Date", "Decimal", "Float", "Nil", "SingleNaN", "StowError", "crc_32c", "decode", "read_log",
    "read_stream",
]
