// Reads logs, whose paths are given a line each, and prints a line for each: the number of records, where the log ends, and the
// numbers of the records, of those that were lost, and of those that are absent; or "refused".
// Tests/CrossLanguage/differential_logs.py compares that with others.

import { readFileSync } from "node:fs";

import { openLog, StowError } from "../stow.js";
import { answerLines } from "./support/lines.js";

const text = (ranges) => ranges.map(({ start, end }) => `${start}..${end}`).join(" ");

function outcome(path) {
  try {
    const { count, end, records, lost, absent } = openLog(readFileSync(path));
    return `${count} ${end}: ${records.map(({ number }) => number).join(" ")}; ${text(lost)}; ${text(absent)}`;
  } catch (error) {
    return error instanceof StowError ? "refused" : `throws ${error.stack}`;
  }
}

answerLines(outcome);
