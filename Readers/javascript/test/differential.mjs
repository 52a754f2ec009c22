// Compares this reader with the library: what one refuses the other refuses, and what they accept means the same. What is
// accepted is written again, too, and the library finds the same in it.
//
//     node test/differential.mjs --reader PATH --mutations 100000     messages; PATH is the executable MessageReader
//     node test/differential.mjs --reader PATH --generated FILE       messages that Conformance/generate.py has made
//
// All vectors are read, and mutations of them, which are the same for the same --seed. Tests/CrossLanguage compares logs and streams.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";

import { Context, StowError, decode, encode } from "../stow.js";
import { Mutator } from "./support/mutations.js";
import { hex, meaningText } from "./support/notation.js";
import { contexts, files, vectors } from "./support/vectors.js";

const CHUNK = 5000;
const MOST_SHOWN = 20;

const { values: options } = parseArgs({
  options: {
    reader: { type: "string" }, generated: { type: "string" },
    mutations: { type: "string", default: "10000" }, seed: { type: "string", default: "1" },
  },
});

let compared = 0, accepted = 0, differences = 0;

function main() {
  if (!options.reader) return console.log("nothing to compare with: give --reader a path");
  if (options.generated) compareGenerated(options.generated);
  else compareMessages(Number(options.mutations), Number(options.seed));
  console.log(`${compared} compared: ${accepted} accepted by both, ${differences} differences`);
  process.exitCode = differences > 0 ? 1 : 0;
}

function note(what, mine, theirs) {
  compared++;
  const isRefused = theirs.split("\t").every((part) => part.startsWith("refused"));
  if (mine === theirs) accepted++;
  if (mine === theirs || (isRefused && mine.startsWith("refused"))) return;
  if (++differences <= MOST_SHOWN) console.log(`${what}\n  JavaScript  ${mine}\n  library     ${theirs}`);
}

// Messages.

const known = contexts.map((message) => new Context(message));

function compareMessages(mutations, seed) {
  compareChunk(vectors.map(({ bytes }) => bytes));
  const perFile = Math.ceil(mutations / files.length);
  for (const [index, file] of files.entries()) {
    const mutator = new Mutator(vectors.filter((vector) => vector.file === file).map(({ bytes }) => bytes), seed * 1000 + index);
    for (let count = perFile; count > 0; count -= CHUNK) {
      compareChunk(Array.from({ length: Math.min(count, CHUNK) }, () => mutator.mutation()));
    }
  }
}

function compareGenerated(file) {
  const lines = gunzipSync(readFileSync(file)).toString("utf8").split("\n").slice(0, -1);
  for (let at = 0; at < lines.length; at += CHUNK) {
    compareChunk(lines.slice(at, at + CHUNK).map((line) => {
      const digits = line.slice(0, line.indexOf(" "));
      return digits === "-" ? new Uint8Array(0) : Uint8Array.from(Buffer.from(digits, "hex"));
    }));
  }
}

function compareChunk(messages) {
  const theirs = inSwift(messages);
  const meanings = messages.map(inJavaScript);
  messages.forEach((message, index) => note(hex(message), meanings[index], theirs[index] ?? "no answer"));
  compareWritten(messages.filter((_, index) => !meanings[index].startsWith("refused")));
}

/** The library finds in what is written here what it was written from: without a context, or with one of several. */
function compareWritten(messages) {
  const values = messages.map(read);
  const written = values.map((value, index) => encode(value, { context: [undefined, ...known][index % (known.length + 1)] }));
  const theirs = inSwift(written);
  written.forEach((message, index) => note(hex(message), meaningText(values[index]), theirs[index] ?? "no answer"));
}

function read(message) { return decode(message, { exact: true, objects: "map", contexts: known }); }

function inJavaScript(message) {
  try {
    return meaningText(read(message));
  } catch (error) {
    return error instanceof StowError ? `refused: ${error.message}` : `throws ${error.stack}`;
  }
}

function inSwift(messages) {
  const input = messages.map((message) => `${hex(message)}\n`).join("");
  const more = contexts.flatMap((message) => ["--context", hex(message)]);
  return run(options.reader, ["--reasons", ...more], input);
}

function run(path, parameters, input) {
  const { stdout, error } = spawnSync(path, parameters, { input, encoding: "utf8", maxBuffer: 1 << 30 });
  if (error) throw error;
  return stdout.split("\n");
}

main();
