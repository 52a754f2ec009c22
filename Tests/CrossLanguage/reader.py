"""The reader in Python, which is the second opinion of the library's tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "Readers" / "python"))

import stow

__all__ = ["stow"]
