"""What `file` says of files of the conformance suite."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).parent
LOGS = FOLDER.parent.parent / "Conformance" / "logs"


@unittest.skipUnless(shutil.which("file"), "there is no file(1)")
class MagicTests(unittest.TestCase):
    def kind(self, path: pathlib.Path) -> str:
        command = ["file", "--brief", "-m", str(FOLDER / "stow"), str(path)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def kind_of_bytes(self, data: bytes) -> str:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "bytes"
            path.write_bytes(data)
            return self.kind(path)

    def test_logs(self) -> None:
        logs = [path for path in sorted(LOGS.glob("*.stowlog")) if path.read_bytes()[:2] == b"\x7f\x02"]
        self.assertGreater(len(logs), 5)
        for path in logs:
            self.assertRegex(self.kind(path), r"^Stow log, version \d+$", path.name)

    def test_streams_and_contexts(self) -> None:
        self.assertRegex(self.kind_of_bytes(bytes.fromhex("7F 03 01 00")), r"^Stow record stream, version 1$")
        self.assertEqual(
            self.kind_of_bytes(bytes.fromhex("7F 01 32 40 89 27 F8 04 07 95 50 02")),
            "Stow message that relies on a context")

    def test_others(self) -> None:
        for data in (b"\x7fELF\x02\x01\x01", b"{}", bytes.fromhex("33 41 64 61")):
            self.assertNotIn("Stow", self.kind_of_bytes(data))


if __name__ == "__main__":
    unittest.main()
