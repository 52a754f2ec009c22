// Reads streams, a line of hexadecimal digits each, and prints a line for each: of every record what its value means, or "-"
// if it is not valid, and how the stream ends. Tests/CrossLanguage/differential_streams.py compares that with others.

import { StowError, StreamReader } from "../stow.js";
import { answerLines } from "./support/lines.js";
import { meaningText } from "./support/notation.js";

function outcome(digits) {
  const words = [];
  const reader = new StreamReader({ exact: true, objects: "map" });
  try {
    for (const { value, error } of reader.push(Uint8Array.from(Buffer.from(digits, "hex")))) {
      words.push(error ? "-" : meaningText(value));
    }
    reader.finish();
    words.push("end");
  } catch (error) {
    words.push(error instanceof StowError ? "broken" : `throws ${error.stack}`);
  }
  return words.join("\t");
}

answerLines(outcome);
