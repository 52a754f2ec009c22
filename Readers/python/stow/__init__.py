"""Reads and writes the Stow format, version 1.

>>> import stow
>>> stow.loads(stow.dumps({"name": "Elbe", "level": 4.25}))
{'name': 'Elbe', 'level': 4.25}

The reader was written from FORMAT.md alone. It is strict: beyond what every reader has to refuse, it refuses whatever FORMAT.md
calls not valid.
"""

from .context import Context
from .errors import StowError
from .logs import Damage, Log, open_log
from .message import loads
from .notation import notation
from .records import Record
from .streams import StreamReader, read_stream
from .tables import Table
from .values import URL, Date, Nil, SingleNaN
from .writing import dumps

__all__ = [
    "URL", "Context", "Damage", "Date", "Log", "Nil", "Record", "SingleNaN", "StowError", "StreamReader", "Table", "dumps",
    "loads", "notation", "open_log", "read_stream",
]
