// Measures reading and writing beside JSON:
//
//     node bench.js [FOLDER]
//
// FOLDER has JSON documents, as those of nativejson-benchmark; without it some are made up. The sides are measured in turns,
// and the medians are compared: with the documents as they are, and minified, as programs send them.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { decode, encode } from "./stow.js";
import { JSONParser } from "./test/support/notation.js";

const WARM_UP = 20;
const ROUNDS = 61;

function main() {
  console.log("| Document | JSON | minified | Stow | `decode` | faster than `JSON.parse` | of minified | `encode` | `JSON.stringify` |");
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
  const plain = JSON.parse(document);
  const json = new TextEncoder().encode(document);
  const minified = new TextEncoder().encode(JSON.stringify(plain));
  // Numbers with a point are floats, as the text says.
  const stow = encode(new JSONParser(document).document());
  const [decoding, parsing, parsingMinified] = medians([
    () => decode(stow), () => JSON.parse(new TextDecoder().decode(json)), () => JSON.parse(new TextDecoder().decode(minified)),
  ]);
  const [encoding, stringifying] = medians([() => encode(plain), () => new TextEncoder().encode(JSON.stringify(plain))]);
  const columns = [
    name, size(json.length), size(minified.length), size(stow.length), time(decoding), times(parsing / decoding),
    times(parsingMinified / decoding), time(encoding), time(stringifying),
  ];
  console.log(`| ${columns.join(" | ")} |`);
}

/** The median of each of several sides, which are measured in turns. */
function medians(sides) {
  const measurements = sides.map(() => []);
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    sides.forEach((side, index) => {
      const milliseconds = measured(side);
      if (round >= 0) measurements[index].push(milliseconds);
    });
  }
  return measurements.map(median);
}

function measured(body) {
  const begun = performance.now();
  body();
  return performance.now() - begun;
}

function median(milliseconds) { return milliseconds.sort((left, right) => left - right)[milliseconds.length >> 1]; }

function size(bytes) { return `${(bytes / 1000).toFixed(0)} kB`; }

function time(milliseconds) { return `${milliseconds.toFixed(2)} ms`; }

function times(ratio) { return `${ratio.toFixed(1)} ×`; }

main();
