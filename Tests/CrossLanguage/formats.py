#!/usr/bin/env python3
"""Prints what JSON documents take in other formats and in Stow, as they are and compressed by zstd.

Usage: formats.py STOWTOOL FILE...

STOWTOOL is the built command of that name. Needs the packages msgpack, cbor2 and zstandard.
"""

import json
import pathlib
import subprocess
import sys

import cbor2
import msgpack
import zstandard


def forms(tool, path):
    """The document in each format."""
    document = json.loads(path.read_bytes())
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
    stow = subprocess.run([tool, "from-json", path], check=True, capture_output=True).stdout
    return {
        "JSON": text.encode(),
        "MessagePack": msgpack.packb(document),
        "CBOR": cbor2.dumps(document),
        "Stow": stow,
    }


def main():
    tool, *paths = sys.argv[1:]
    if not paths:
        sys.exit(__doc__)
    print("document              format           bytes     zstd -3")
    for path in map(pathlib.Path, paths):
        for name, data in forms(tool, path).items():
            compressed = zstandard.ZstdCompressor(level=3).compress(data)
            print(f"{path.stem:21} {name:12} {len(data):9,} {len(compressed):11,}")


if __name__ == "__main__":
    main()
