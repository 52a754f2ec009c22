// Answers to the lines of standard input, for programs in other languages that compare them with their own.

import { readFileSync } from "node:fs";

/** Prints a line for each line: what `answer` returns for it. */
export function answerLines(answer) {
  const lines = readFileSync(0, "utf8").split("\n").slice(0, -1);
  process.stdout.write(lines.map((line) => `${answer(line)}\n`).join(""));
}
