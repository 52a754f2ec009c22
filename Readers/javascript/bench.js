// Measures reading and writing beside JSON:
//
//     node bench.js [FOLDER]
//
// FOLDER has JSON documents, as those of nativejson-benchmark; without it some are made up. The two sides are measured in
// turns, and the medians are compared. JSON is minified for this: what people send has no spaces.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { at, decode, encode } from "./stow.js";
import { JSONParser } from "./test/support/notation.js";

const ROUNDS = 41;

function main() {
  console.log("| Document | JSON | Stow | JSON.parse | decode | times as fast | JSON.stringify | encode | times as fast |");
  console.log("|---|---|---|---|---|---|---|---|---|");
  for (const [name, text] of documents()) row(name, text);
}

function documents() {
  const folder = process.argv[2];
  if (!folder) return madeUp();
  const names = readdirSync(folder).filter((name) => name.endsWith(".json")).sort();
  return names.map((name) => [name, readFileSync(join(folder, name), "utf8")]);
}

/** Orders of a shop, and readings of a sensor. */
function madeUp() {
  const orders = Array.from({ length: 3000 }, (_, id) => ({
    id, customer: `customer ${(id * 7919) % 1000}`, state: ["new", "paid", "sent"][id % 3], total: (id * 37) % 10000 / 100,
    address: { street: `Street ${id % 97}`, city: `City ${id % 31}`, zip: String(10000 + (id % 999)) },
    items: Array.from({ length: id % 5 }, (_, item) => ({ product: `product ${(id * item) % 300}`, count: item + 1, price: 9.99 })),
  }));
  const readings = Array.from({ length: 50000 }, (_, index) => [index * 0.1, Math.round(Math.sin(index / 100) * 1e6) / 1e6]);
  return [["orders (made up)", JSON.stringify(orders)], ["readings (made up)", JSON.stringify(readings)]];
}

function row(name, document) {
  const json = new TextEncoder().encode(JSON.stringify(JSON.parse(document)));
  // Numbers with a point are floats, as the text says.
  const stow = encode(new JSONParser(document).document());
  const plain = JSON.parse(document);
  const reading = compare(() => JSON.parse(new TextDecoder().decode(json)), () => decode(stow));
  const writing = compare(() => new TextEncoder().encode(JSON.stringify(plain)), () => encode(plain), 11);
  const columns = [
    name, size(json.length), size(stow.length), time(reading.json), time(reading.stow), ratio(reading),
    time(writing.json), time(writing.stow), ratio(writing),
  ];
  console.log(`| ${columns.join(" | ")} |`);
}

/** The medians of two sides that are measured in turns. */
function compare(json, stow, rounds = ROUNDS) {
  const times = { json: [], stow: [] };
  for (let round = 0; round < rounds + 10; round++) {
    const first = measured(json), second = measured(stow);
    if (round < 10) continue;
    times.json.push(first);
    times.stow.push(second);
  }
  return { json: median(times.json), stow: median(times.stow) };
}

function measured(body) {
  const begun = performance.now();
  body();
  return performance.now() - begun;
}

function median(times) { return times.sort((left, right) => left - right)[times.length >> 1]; }

function size(bytes) { return `${(bytes / 1000).toFixed(0)} kB`; }

function time(milliseconds) { return `${milliseconds.toFixed(2)} ms`; }

function ratio({ json, stow }) { return (json / stow).toFixed(2); }

main();
