// Compares this reader with the library: what one refuses the other refuses, and what they accept means the same. What is
// accepted is written again, too, and the library finds the same in it.
//
//     node test/differential.mjs --reader PATH --mutations 100000     messages; PATH is the executable MessageReader
//     node test/differential.mjs --reader PATH --generated FILE       messages that Conformance/generate.py has made
//     node test/differential.mjs --logs PATH --mutations 1000         logs; PATH is the executable LogWorker
//
// Both may be given, and --seed. All vectors are read, and mutations of them, which are the same for the same seed.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";

import { Context, StowError, decode, encode, openLog } from "../stow.js";
import { Chance, Mutator, changedLog, mutatedLog } from "./support/mutations.js";
import { hex, meaningText } from "./support/notation.js";
import { contexts, files, logBytes, logNames, vectors } from "./support/vectors.js";

const CHUNK = 5000;
const MOST_SHOWN = 20;

const { values: options } = parseArgs({
  options: {
    reader: { type: "string" }, logs: { type: "string" }, generated: { type: "string" },
    mutations: { type: "string", default: "10000" }, seed: { type: "string", default: "1" },
  },
});

let compared = 0, accepted = 0, differences = 0;

function main() {
  if (!options.reader && !options.logs) return console.log("nothing to compare with: give --reader or --logs a path");
  if (options.generated) compareGenerated(options.generated);
  else if (options.reader) compareMessages(Number(options.mutations), Number(options.seed));
  if (options.logs) compareLogs(Number(options.mutations), Number(options.seed));
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

// Logs.

function compareLogs(mutations, seed) {
  const folder = mkdtempSync(join(tmpdir(), "stow-logs-"));
  for (const [index, name] of logNames.entries()) {
    const chance = new Chance(seed * 1000 + index);
    const original = logBytes(name);
    for (let count = Math.ceil(mutations / logNames.length); count > 0; count -= 500) {
      const logs = [original];
      for (let mutation = Math.min(count, 500); mutation > 0; mutation--) {
        logs.push(mutation % 2 ? mutatedLog(original, chance) : changedLog(original, chance));
      }
      compareLogChunk(name, logs, folder);
    }
  }
  rmSync(folder, { recursive: true });
}

function compareLogChunk(name, logs, folder) {
  const paths = logs.map((_, index) => join(folder, String(index)));
  logs.forEach((bytes, index) => writeFileSync(paths[index], bytes));
  const theirs = run(options.logs, ["read"], paths.map((path) => `${path}\n`).join(""));
  logs.forEach((bytes, index) => note(`${name}, log ${index}`, logText(bytes), theirs[index] ?? "no answer"));
}

function logText(bytes) {
  try {
    const log = openLog(bytes);
    return `${log.count} ${log.end}: ${log.records.map(({ number }) => number).join(" ")}`;
  } catch (error) {
    return error instanceof StowError ? "refused" : `throws ${error.stack}`;
  }
}

main();
