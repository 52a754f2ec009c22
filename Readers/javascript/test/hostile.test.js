import assert from "node:assert/strict";
import { test } from "node:test";

import { Context, StowError, at, decode, each, encode, openLog, readStream, walk } from "../stow.js";
import { Chance, Mutator, changedLog, mutatedLog } from "./support/mutations.js";
import { described, hexBytes } from "./support/notation.js";
import { contexts, examples, logBytes, logNames, vectors } from "./support/vectors.js";

const EXACT = { exact: true, objects: "map" };
const known = contexts.map((message) => new Context(message));

/** Calls something that may refuse, and returns whether it did. Anything but a StowError is a fault. */
function refuses(body) {
  try {
    body();
    return false;
  } catch (error) {
    if (!(error instanceof StowError)) throw error;
    return true;
  }
}

test("mutations of all vectors are read or refused", (context) => {
  const mutator = new Mutator(vectors.map(({ bytes }) => bytes), 7);
  let accepted = 0;
  for (let count = 0; count < 60000; count++) {
    const bytes = mutator.mutation();
    const options = { ...EXACT, contexts: known };
    let value;
    const isRefused = refuses(() => { value = decode(bytes, options); });
    for (const path of ["[0]", "[][]", "a[].b"]) refuses(() => at(bytes, path, options));
    if (isRefused) continue;
    accepted++;
    assert.equal(described(decode(encode(value), EXACT)), described(value));
    if (count % 5 === 0) walk(bytes, { contexts: known });
    if (count % 5 === 1) decode(bytes, { contexts: known });
  }
  context.diagnostic(`${accepted} of 60000 accepted`);
});

test("mutations of contexts are read or refused", () => {
  const mutator = new Mutator(contexts, 8);
  for (let count = 0; count < 5000; count++) refuses(() => new Context(mutator.mutation()));
});

test("mutations of logs are read or refused", () => {
  const chance = new Chance(9);
  for (const name of logNames) {
    for (let count = 0; count < 15; count++) {
      refuses(() => openLog(mutatedLog(logBytes(name), chance)));
      refuses(() => openLog(changedLog(logBytes(name), chance)));
    }
  }
});

test("a block whose bytes may all be frames is read in a time that is in proportion", () => {
  const bytes = new Uint8Array(65536 * 2);
  bytes.set(logBytes("records").subarray(0, 32));
  // Everywhere stands a kind, and a length that stays within the block: with a checksum for each it would take minutes.
  for (let index = 32; index < bytes.length; index++) bytes[index] = 1 + (index % 10);
  assert.equal(openLog(bytes).records.length, 0);
});

test("mutations of streams are read or refused", () => {
  const mutator = new Mutator(examples("stow-stream").map(({ bytes }) => bytes), 10);
  for (let count = 0; count < 3000; count++) refuses(() => [...readStream(mutator.mutation())]);
});

test("levels have a limit", () => {
  const nested = (levels) => {
    let bytes = hexBytes("91");
    for (let level = 0; level < levels; level++) {
      const head = Buffer.from([0x70, 0xFC, 0, 0, 0, 0]);
      head.writeUInt32LE(bytes.length, 2);
      bytes = new Uint8Array(Buffer.concat([head, bytes]));
    }
    return bytes;
  };
  assert.ok(!refuses(() => decode(nested(512))));
  assert.ok(refuses(() => decode(nested(513))));
  assert.ok(!refuses(() => walk(nested(512))));
  assert.ok(refuses(() => walk(nested(513))));
  assert.ok(!refuses(() => decode(nested(2000), { depth: 2000 })));
  assert.ok(refuses(() => decode(nested(2), { depth: 1 })));
  assert.ok(refuses(() => at(nested(600), Array(600).fill(0))));
  let value = 1;
  for (let level = 0; level < 513; level++) value = [value];
  assert.ok(refuses(() => encode(value)));
  assert.ok(!refuses(() => encode(value[0])));
  const circle = [];
  circle.push(circle);
  assert.ok(refuses(() => encode(circle)));
  const deep = (levels) => (levels === 0 ? decode(nested(2000), { depth: 2000 }) : deep(levels - 1));
  refuses(() => deep(9000));
});

test("counts and lengths that are not there take no memory", () => {
  for (const digits of [
    "1F FD FF FF FF FF FF FF FF 7F", "1F 00 FC FF FF FF FF", "1F 00 01 FC FF FF FF FF 81 61", "74 07 0D FC FF FF FF FF 00",
    "7B 06 FC FF FF FF FF 01", "70 FD FF FF FF FF FF FF FF 7F", "19 FC FF FF FF FF", "1D FC FF FF FF FF 61",
  ]) assert.ok(refuses(() => decode(hexBytes(digits))), digits);
});
