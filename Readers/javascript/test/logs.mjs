// Reads logs, whose paths are given a line each, and prints a line for each: the first number, the number of records, where the log
// ends, and the numbers of the records, of those that were lost, and of those that are absent; or "refused".
// Tests/CrossLanguage/differential_logs.py compares that with others.

import { readFileSync, readdirSync, statSync } from "node:fs";

import { openLog, StowError } from "../stow.js";
import { answerLines } from "./support/lines.js";

const text = (ranges) => ranges.map(({ start, end }) => `${start}..${end}`).join(" ");

function source(path) {
  if (!statSync(path).isDirectory()) return readFileSync(path);
  return new Map(readdirSync(path).map((name) => [name, readFileSync(`${path}/${name}`)]));
}

function outcome(path) {
  try {
    const { first, count, end, records, lost, absent } = openLog(source(path));
    return `${first} ${count} ${end}: ${records.map(({ number }) => number).join(" ")}; ${text(lost)}; ${text(absent)}`;
  } catch (error) {
    return error instanceof StowError ? "refused" : `throws ${error.stack}`;
  }
}

answerLines(outcome);
