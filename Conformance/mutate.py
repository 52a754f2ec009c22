#!/usr/bin/env python3
"""Shows how much the suite notices: breaks the reader and the writer in Python one rule at a time, and reads the suite with each.

    mutate.py               all changes of changes.txt; fails if the suite notices fewer than it must
    mutate.py --part logs   those of one part
    mutate.py --survivors   prints each change that is not noticed, and why

A change takes the place of some text that is in its file exactly once. It is noticed if anything of the suite is then read or
written in another way than the suite says.
"""

import argparse
import multiprocessing
import re
import resource
import signal
import sys
from collections import Counter
from dataclasses import dataclass, field
from importlib.abc import MetaPathFinder, SourceLoader
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from pathlib import Path

sys.dont_write_bytecode = True
sys.setrecursionlimit(10_000)

SUITE = Path(__file__).resolve().parent
READER = SUITE.parent / "Readers" / "python"
sys.path[:0] = [str(READER), str(SUITE.parent / "Tests" / "CrossLanguage")]

# How many of a hundred changes the suite must notice. The two first parts count together.
MUST = {"reader": 95, "writer": 95, "logs": 85}
_SECONDS, _MEMORY = 60, 4 << 30


@dataclass
class Change:
    """A rule of the format that an implementation gets wrong."""

    part: str
    file: str
    rule: str
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    #: Why the suite does not notice it.
    survives: str = ""

    @property
    def source(self) -> str:
        source = (READER / "stow" / self.file).read_text(encoding="utf-8")
        old = "\n".join(self.old)
        if source.count(old) != 1:
            raise ValueError(f"{self.file} has {source.count(old)} times what \"{self.rule}\" changes:\n{old}")
        return source.replace(old, "\n".join(self.new))


def changes() -> list[Change]:
    """Those of changes.txt. One begins with its part, its file and its rule; what is taken out and put in follows as in a diff."""
    found: list[Change] = []
    for line in (SUITE / "changes.txt").read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        if heading := re.fullmatch(r"(\w+) (\w+\.py): (.+)", line):
            found.append(Change(*heading.groups()))
        elif line.startswith("survives: "):
            found[-1].survives = line.removeprefix("survives: ")
        else:
            {"-": found[-1].old, "+": found[-1].new}[line[0]].append(line[1:])
    return found


class _Changed(MetaPathFinder, SourceLoader):
    """Imports one module of the reader from another text than that of its file."""

    def __init__(self, change: Change):
        self._name = f"stow.{change.file.removesuffix('.py')}"
        self._path = str(READER / "stow" / change.file)
        self._source = change.source.encode()

    def find_spec(self, name: str, path: object, target: object = None) -> "ModuleSpec | None":
        return spec_from_loader(name, self, origin=self._path) if name == self._name else None

    def get_filename(self, name: str) -> str:
        return self._path

    def get_data(self, path: str) -> bytes:
        return self._source


def noticed(change: "Change | None") -> str:
    """What of the suite is read or written in another way with a change; nothing if all is as the suite says."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    signal.alarm(_SECONDS)
    signal.signal(signal.SIGALRM, _stop)
    name = "import"
    try:
        if change is not None:
            sys.meta_path.insert(0, _Changed(change))
        import conformance

        for name, check in conformance.every(change.part if change else ""):
            check()
    except Exception as error:
        return f"{name}: {type(error).__name__} {error}"[:300]
    return ""


def _stop(*_: object) -> None:
    raise TimeoutError


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=MUST)
    parser.add_argument("--survivors", action="store_true", help="print each change that is not noticed")
    parser.add_argument("--by", action="store_true", help="print by what each change is noticed")
    options = parser.parse_args()
    found = [change for change in changes() if options.part in (None, change.part)]
    for change in found:
        compile(change.source, change.file, "exec")
    with multiprocessing.get_context("fork").Pool(multiprocessing.cpu_count(), maxtasksperchild=1) as pool:
        results = pool.map(noticed, [None, *found], chunksize=1)
    if results[0]:
        print(f"Without a change, the suite is not read as it says: {results[0]}")
        return 1
    survivors = [change for change, result in zip(found, results[1:]) if not result]
    for change, result in zip(found, results[1:]):
        if options.by and result:
            print(f"{change.part} {change.file}: {change.rule}\n  {result}")
        if (options.survivors or not change.survives) and not result:
            print(f"Not noticed: {change.part} {change.file}: {change.rule}\n  {change.survives or 'nothing explains it'}")
        if change.survives and result:
            print(f"Noticed after all: {change.part} {change.file}: {change.rule}")
    counts, lost = Counter(change.part for change in found), Counter(change.part for change in survivors)
    has_failed = any(not change.survives for change in survivors)
    for part, count in counts.items():
        share = 100 * (count - lost[part]) / count
        print(f"{part}: {count - lost[part]} of {count} changes are noticed, {share:.1f} %; at least {MUST[part]} % must be")
        has_failed |= share < MUST[part]
    return 1 if has_failed else 0


if __name__ == "__main__":
    sys.exit(main())
