// The conformance suite, which Conformance/README.md describes, and the examples of FORMAT.md and the pages beside it.

import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { gunzipSync } from "node:zlib";

import { Context, decode } from "../../stow.js";
import { hexBytes, parse } from "./notation.js";

const ROOT = new URL("../../../../", import.meta.url);
const SUITE = new URL("Conformance/", ROOT);
const FOLDER = new URL("messages/", SUITE);
const LOGS = new URL("logs/", SUITE);
const SEGMENTS = new URL("segments/", SUITE);

/** Some bytes, and what they mean; nothing if they are refused. */
export class Vector {
  constructor(file, kind, name, flags) {
    this.file = file;
    this.kind = kind;
    this.name = name;
    this.flags = new Set(flags);
    this.fields = {};
    /** The notation of each record of a stream. */
    this.records = [];
  }

  get bytes() { return hexBytes(`${this.fields.prelude ?? ""} ${this.fields.bytes ?? ""}`); }
  get value() { return parse(this.fields.value); }
  get isImplicit() { return this.flags.has("implicit"); }
  get hasContext() { return this.fields.context !== undefined; }
  get context() { return new Context(hexBytes(this.fields.context)); }
  /** Whether all objects have free keys, as those have that this module writes. */
  get hasFreeKeys() { return !/"\$(A|B|C|AB|nothing|absent)"/.test(this.fields.value); }

  /** What the message, or some other, means in the context of the vector, if it has one. */
  decoded(message = this.bytes, options = { exact: true, objects: "map" }) {
    return decode(message, { ...options, ...this.options() });
  }

  options() {
    if (!this.hasContext) return {};
    const { context } = this;
    return this.isImplicit ? { context } : { contexts: [context] };
  }
}

/** A vector begins at the start of a line; what belongs to it is indented. */
function load(file, folder = FOLDER) {
  const vectors = [];
  for (const line of readFileSync(new URL(file, folder), "utf8").split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    if (!line.startsWith(" ")) {
      const [kind, name, ...flags] = line.split(" ");
      vectors.push(new Vector(file, kind, name, flags));
      continue;
    }
    const [, name, text] = /^ *(\S*) ?(.*)$/.exec(line);
    const { fields, records } = vectors[vectors.length - 1];
    if (name === "record") records.push(text);
    else fields[name] = name in fields ? `${fields[name]} ${text}` : text;
  }
  return vectors;
}

export const files = readdirSync(FOLDER).filter((name) => name.endsWith(".txt")).sort();
export const vectors = files.flatMap((file) => load(file));
export const validVectors = vectors.filter(({ kind }) => kind !== "refused");

/** Those that can be written: a writer counts levels that are none to a reader, and writes no more than 512 of them. */
export const writableVectors = validVectors.filter(({ name }) => !name.startsWith("depth-512-around-"));

/** The notation of each vector that is valid, by its name. */
export const meanings = new Map(readFileSync(new URL("meanings.txt", SUITE), "utf8").split("\n")
  .filter((line) => line !== "" && !line.startsWith("#")).map((line) => /^(\S+) (.*)$/s.exec(line).slice(1)));

/** Whether a text is the one of a meaning, or that of its checksum. */
export function isMeaning(meaning, text) {
  return meaning === text || meaning === `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

export const streams = load("streams.txt", SUITE);

/** Small logs. A record is its number and its notation. */
export const smallLogs = load("logs.txt", SUITE);

/** Messages that were made at random, whether they are canonical, and their notation, or "refused". */
export function generated() {
  const text = gunzipSync(readFileSync(new URL("messages.txt.gz", SUITE))).toString("utf8");
  return text.split("\n").slice(0, -1).map((line) => {
    const [, canonical, digits, meaning] = /^(canonical )?(\S+) (.*)$/s.exec(line);
    return { isCanonical: canonical !== undefined, bytes: hexBytes(digits === "-" ? "" : digits), meaning };
  });
}

/** The messages of the contexts of all vectors that are not refused. */
export const contexts = [...new Set(validVectors.filter((vector) => vector.hasContext)
  .map((vector) => Buffer.from(hexBytes(vector.fields.context)).toString("hex")))].sort().map(hexBytes);

export const logNames = readdirSync(LOGS).filter((name) => name.endsWith(".stowlog")).map((name) => name.slice(0, -8)).sort();

export function logBytes(name) { return new Uint8Array(readFileSync(new URL(`${name}.stowlog`, LOGS))); }

export const folderNames = readdirSync(SEGMENTS).filter((name) => !name.endsWith(".txt")).sort();

/** The files of a golden folder of segments, by their names. */
export function folderFiles(name) {
  const folder = new URL(`${name}/`, SEGMENTS);
  return new Map(readdirSync(folder).map((file) => [file, new Uint8Array(readFileSync(new URL(file, folder)))]));
}

export const expectedFolder = (name) => expectedLog(name, SEGMENTS);

/** The number of the first record, the records of a golden log by their numbers, the numbers that were lost, and where the log ends. */
export function expectedLog(name, folder = LOGS) {
  const result = { first: 0, records: new Map(), lost: [], end: 0 };
  for (const line of readFileSync(new URL(`${name}.txt`, folder), "utf8").split("\n")) {
    const [, word, number, rest] = /^(\S+) (\d+) ?(.*)$/.exec(line) ?? [];
    if (word === "record") result.records.set(Number(number), parse(rest));
    else if (word === "lost") result.lost.push(Number(number));
    else if (word === "first") result.first = Number(number);
    else if (word === "end") result.end = Number(number);
  }
  return result;
}

const pages = readdirSync(new URL("Format/", ROOT)).filter((name) => name.endsWith(".md")).sort();
const format = ["FORMAT.md", ...pages.map((name) => `Format/${name}`)].map((name) => readFileSync(new URL(name, ROOT), "utf8")).join("\n");

/** The name and the text of each fenced block of a kind. */
function blocks(kind) {
  return [...format.matchAll(new RegExp(`^\`\`\`${kind} ?(\\S*)\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(([, name, text]) => ({ name, text }));
}

/** The records of each example of a kind, and its bytes. */
export function examples(kind) {
  return blocks(kind).map(({ name, text }) => ({
    name,
    bytes: hexBytes([...text.matchAll(/^bytes:(.*)$/gm)].map(([, digits]) => digits).join(" ")),
    records: [...text.matchAll(/^record \d+: (.*)$/gm)].map(([, record]) => parse(record)),
  }));
}

/** The lines of bytes and what stands beside them. */
export function lines(kind) {
  return blocks(kind).flatMap(({ text }) => text.trimEnd().split("\n")).map((line) => {
    const [digits, rest] = line.split(/ {2,}(.*)/);
    return { bytes: hexBytes(digits), text: rest.split(";")[0] };
  });
}
