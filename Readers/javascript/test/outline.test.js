import assert from "node:assert/strict";
import { test } from "node:test";

import { Context, StowError, check, decode, encode, openLog, outline, readStream } from "../stow.js";
import { logOf, stream } from "./support/frames.js";
import { Mutator } from "./support/mutations.js";
import { described, hexBytes } from "./support/notation.js";
import { contexts, examples, logBytes, logNames, vectors } from "./support/vectors.js";

const EXACT = { exact: true, objects: "map" };
const options = { ...EXACT, contexts: contexts.map((message) => new Context(message)) };

/** The first fault of a part; null if there is none. */
function faultOf(part) {
  const steps = check(part);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** A part and all that is nested in it. */
function walked(part) {
  return [part, ...Array.from({ length: part.count }, (_, index) => walked(part.part(index))).flat()];
}

/** Goes over all parts of the same bytes, and returns where they end: they follow each other without a gap. */
function covered(part, at) {
  if (part.before) at = covered(part.before, at);
  assert.equal(part.start, at);
  at = part.end;
  for (let index = 0; index < part.count; index++) {
    const nested = part.part(index);
    if (nested.bytes === part.bytes) at = covered(nested, at);
  }
  if (part.count > 0) assert.equal(at, part.until, part.text);
  return Math.max(at, part.until);
}

/** The parts that have the byte at an offset, the outermost first. */
function chain(part, offset) {
  const index = part.indexAt(offset);
  return index < 0 ? [part] : [part, ...chain(part.part(index), offset)];
}

test("a long text that is asked for again is not read again", () => {
  const root = outline(encode([["x".repeat(10000), 1]]), EXACT).part(0).part(0);
  assert.equal(root.part(0), root.part(0));
  assert.equal(root.part(1).value, 1);
});

test("the parts of a message cover its bytes, and are found by them", () => {
  for (const { bytes, isValid } of vectors) {
    const root = outline(bytes, options);
    let value;
    try {
      value = decode(bytes, options);
    } catch {
      assert.ok(faultOf(root));
      continue;
    }
    assert.equal(faultOf(root), null);
    assert.equal(covered(root, 0), bytes.length);
    assert.equal(described(root.read()), described(value));
    for (let offset = 0; offset < Math.min(bytes.length, 40); offset++) {
      const part = chain(root, offset).at(-1);
      assert.ok(part.first <= offset && offset < part.end, `${offset} of ${part.kind}`);
    }
  }
});

test("a mutation has a fault exactly if it is refused", (context) => {
  const mutator = new Mutator(vectors.map(({ bytes }) => bytes), 21);
  let broken = 0;
  for (let count = 0; count < 15000; count++) {
    const bytes = mutator.mutation();
    const root = outline(bytes, options);
    const fault = faultOf(root);
    let error = null;
    try {
      decode(bytes, options);
    } catch (thrown) {
      error = thrown;
    }
    assert.equal(fault !== null, error !== null, Buffer.from(bytes).toString("hex"));
    if (!fault) continue;
    broken++;
    assert.ok(fault.error instanceof StowError);
    let part = root;
    for (const index of fault.indices) part = part.part(index);
    if (bytes.length > 0 && bytes.length < 500) covered(root, 0);
  }
  context.diagnostic(`${broken} of 15000 are broken`);
});

test("a packed array of a reserved element type says so", () => {
  const { text, count } = outline(hexBytes("74 02 E2 01"), EXACT).part(0);
  assert.deepEqual([text, count], ["packed array of 2 bytes, reserved", 1]);
});

test("what is cut off is shown up to its end", () => {
  const rows = Array.from({ length: 100 }, (_, index) => ({ id: index, name: `name ${index}`, tags: ["a", index] }));
  const whole = encode({ rows });
  const bytes = whole.subarray(0, whole.length / 2);
  const fault = faultOf(outline(bytes));
  let part = outline(bytes);
  const steps = [];
  for (const index of fault.indices) {
    part = part.part(index);
    if (part.step !== null) steps.push(part.step);
  }
  assert.equal(steps[0], "rows");
  assert.ok(steps[1] > 30, String(steps));
});

test("a map of more keys than the engine takes is shown up to there", () => {
  // The last value is so large that the others are looked at one by one.
  const root = outline(encode({ a: 1, b: 2, c: 3, d: 4, e: new Uint8Array(100000) }), EXACT);
  const { add } = Set.prototype;
  Set.prototype.add = function (key) {
    if (this.size === 3) throw new RangeError("Set maximum size exceeded");
    return add.call(this, key);
  };
  try {
    const fault = faultOf(root);
    assert.deepEqual(fault.indices, [0, 3]);
    assert.match(fault.error.rule, /no room/);
    assert.deepEqual([0, 1, 2].map((index) => root.part(0).part(index).value), [1, 2, 3]);
  } finally {
    Set.prototype.add = add;
  }
});

test("an outline has a part for a step", () => {
  const root = outline(encode({ list: [1.5, 2.25, 1e300, "x"], bits: Array(20).fill(true), rows: [[1, 2], [3, 4], [5, 600]] }));
  const value = root.part(root.count - 1);
  const at = (...steps) => steps.reduce((part, step) => part.part(part.indexOf(step)), value);
  assert.equal(at("list", 1).value, 2.25);
  assert.deepEqual(at("bits", 17).value, [true, true, true, true]);
  assert.equal(at("rows", 2, 1).value, 600);
  assert.equal(value.indexOf("none"), -1);
  assert.equal(at("list").indexOf(4), -1);
  assert.equal(at("list").indexOf("a"), -1);
});

test("the parts of logs cover their bytes, and hold their records", () => {
  for (const bytes of [...logNames.map(logBytes), ...examples("stow-log").map(({ bytes }) => bytes)]) {
    const root = outline(bytes, EXACT);
    const found = [];
    for (let index = 0; index < root.count; index++) collectRecords(root.part(index), found);
    const { records, count } = openLog(bytes, EXACT);
    const texts = new Map(found.map(({ number, value }) => [number, value]));
    for (const { number, value, error } of records) if (!error) assert.equal(texts.get(number), described(value));
    assert.ok(texts.size <= Number(count) + 1);
    covered(root, 0);
  }
});

function collectRecords(part, found) {
  const number = /^record (\d+)/.exec(part.text)?.[1];
  if (part.kind === "message" && number !== undefined) {
    if (!part.error) found.push({ number: Number(number), value: described(part.read()) });
    return;
  }
  for (let index = 0; index < part.count; index++) collectRecords(part.part(index), found);
}

test("the parts of streams cover their bytes, and hold their records", () => {
  for (const { bytes, records } of examples("stow-stream")) {
    const root = outline(bytes, EXACT);
    assert.equal(covered(root, 0), bytes.length);
    assert.equal(faultOf(root), null);
    const found = [];
    for (let index = 0; index < root.count; index++) collectRecords(root.part(index), found);
    assert.deepEqual(found.map(({ value }) => value), records.map(described));
    const broken = bytes.slice();
    broken[broken.length - 1] ^= 1;
    const last = outline(broken).part(outline(broken).count - 1);
    if ([...readStreamOf(broken)].length < records.length) assert.equal(last.kind, "fault");
  }
  const cut = outline(hexBytes("7F 03 01 0B EA 33 41 64"));
  assert.match(faultOf(cut).error.rule, /ends within/);
});

function* readStreamOf(bytes) {
  try {
    yield* readStream(bytes);
  } catch (error) {
    assert.ok(error instanceof StowError);
  }
}

test("a log whose first bytes are damaged is a log", () => {
  const bytes = Uint8Array.from(logBytes("blocks"));
  bytes[0] ^= 1;
  const root = outline(bytes);
  assert.equal(root.kind, "log");
  assert.equal(root.part(0).part(0).text, "the head of the block is damaged");
  assert.ok(root.part(0).count > 1);
});

test("mutations of streams and logs have parts that cover them", () => {
  const mutator = new Mutator(examples("stow-stream").map(({ bytes }) => bytes), 22);
  for (let count = 0; count < 2000; count++) {
    const bytes = mutator.mutation();
    if (bytes[0] === 0x7F && bytes[1] === 0x03) covered(outline(bytes), 0);
  }
});

test("only values are read", () => {
  const group = logOf({ frames: [[0x02, hexBytes("00 02 04 01 91 01")]] }, { first: 2, frames: [[0x04, hexBytes("01 92")]] });
  const message = encode(["Ada Lovelace", "Ada Lovelace"]);
  const brokenPrelude = hexBytes("1F 01 C0 00 91");
  for (const bytes of [message, brokenPrelude, group, ...logNames.map(logBytes), stream(hexBytes("91"))]) {
    for (const part of walked(outline(bytes))) {
      let error = null;
      try {
        part.read();
      } catch (thrown) {
        error = thrown;
      }
      const isValue = part.value !== undefined || part.isValue || part.kind === "message";
      assert.ok(error === null ? isValue : error instanceof StowError, `${part.kind}, ${part.text}: ${error?.stack}`);
    }
  }
  assert.throws(() => outline(brokenPrelude).read(), /a reference stands/);
});

test("records are found by their numbers", () => {
  const frame = outline(logOf({ frames: [[0x05, hexBytes("00 01 90 00 03 01 91")]] })).part(0).part(6);
  assert.deepEqual([0, 2, 4, 7].map((number) => frame.indexOf(number)), [4, -1, 6, -1]);
  const records = stream(hexBytes("90"), hexBytes("91"));
  const forgotten = new Uint8Array([...records.subarray(0, 3), 0, ...records.subarray(3)]);
  assert.deepEqual([0, 1, 2, -1].map((number) => outline(forgotten).indexOf(number)), [2, 3, -1, -1]);
});

test("a frame whose number is not one has its bytes", () => {
  const root = outline(logOf({ frames: [[0x05, hexBytes("00 01 91")], [0x09, hexBytes("FD FF FF FF FF FF FF FF FF")]] }));
  const frame = root.part(0).part(root.part(0).count - 1);
  assert.ok(frame.error instanceof StowError);
  assert.equal(covered(root, 0), root.until);
  assert.equal(frame.part(frame.count - 1).text, "9 bytes");
});

test("many records after many definitions are looked at in a time that is in proportion", () => {
  const symbols = 1000000, count = Buffer.alloc(4);
  count.writeUInt32LE(symbols);
  const first = Buffer.concat([hexBytes("1F FC"), count, Buffer.alloc(symbols, 0x80), hexBytes("00 91")]);
  // If each record had its own copy of what is defined, it would take minutes.
  assert.equal(faultOf(outline(stream(first, ...Array(5000).fill(hexBytes("91"))))), null);
});

test("many records that each define something are looked at in a time that is in proportion", () => {
  const records = Array.from({ length: 40000 }, (_, index) => {
    const name = Buffer.from(`symbol ${index}`);
    return Buffer.concat([hexBytes("1F 01"), Buffer.of(0x80 + name.length), name, hexBytes("00 90")]);
  });
  // If each record had its own copy of what is defined before it, it would take minutes.
  const root = outline(stream(...records));
  assert.equal(faultOf(root), null);
  assert.equal(root.part(root.count - 1).part(0).part(0).text, 'symbol 39999: "symbol 39999"');
});

test("a record does not see what later ones define, and relies on no context", () => {
  const records = outline(stream(hexBytes("50"), hexBytes("1F 01 83 41 64 61 00 50"), hexBytes("50")));
  const values = [1, 2, 3].map((index) => walked(records.part(index)).find(({ kind }) => kind === "string" || kind === "fault"));
  assert.deepEqual(values.map(({ value }) => value), [undefined, "Ada", "Ada"]);
  const context = new Context(hexBytes("1F 01 83 42 6F 62 00 00"));
  const packed = logOf({ frames: [[0x08, hexBytes("00 10 1F 01 83 41 64 61 00 91 05 00 50")]] });
  const found = walked(outline(packed, { context })).filter(({ kind }) => kind === "string");
  assert.deepEqual(found.map(({ value }) => value), ["Ada"]);
});
