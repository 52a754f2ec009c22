import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { Context, StowError, at, check, decode, each, encode, openLog, outline, readStream, walk } from "../stow.js";
import { Chance, Mutator, changedLog, mutatedLog } from "./support/mutations.js";
import { logOf } from "./support/frames.js";
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

/** A uint in five bytes. */
function uint(number) {
  const bytes = Buffer.from([0xFC, 0, 0, 0, 0]);
  bytes.writeUInt32LE(number, 1);
  return bytes;
}

test("a matrix of many columns is read in a time that is in proportion", () => {
  const columns = 200000;
  const body = Buffer.concat([uint(columns), Buffer.alloc(columns, 0x01), Buffer.alloc(2 * columns, 0x05)]);
  const message = Buffer.concat([hexBytes("7B"), uint(body.length), body]);
  // If each cell looked at all columns before it, it would take minutes.
  assert.equal(decode(message)[1][columns - 1], 5);
  assert.equal(at(message, "[][]")[1][columns - 1], 5);
  assert.equal(at(message, [1, columns - 1]), 5);
});

test("shapes of long symbols are read in a time that is in proportion", () => {
  const length = 400000, count = 60000;
  const symbols = ["x", "y"].map((last) => Buffer.concat([hexBytes("E1"), uint(length), Buffer.alloc(length - 1, 0x61), Buffer.from(last)]));
  const records = Buffer.concat(Array.from({ length: count }, (_, number) => Buffer.concat([hexBytes("72"), uint(number), hexBytes("02 91 92")])));
  const message = Buffer.concat([
    hexBytes("1F 02"), ...symbols, uint(count), Buffer.alloc(3 * count, hexBytes("02 C0 C1")), hexBytes("70"), uint(records.length), records,
  ]);
  // If each shape compared its keys, or put them together, it would take minutes.
  assert.deepEqual(Object.values(decode(message)[count - 1]), [1, 2]);
  assert.deepEqual([...decode(message, EXACT)[count - 1].values()], [1, 2]);
  assert.equal(at(message, [count - 1, "x"]), undefined);
  for (let looking = check(outline(message)), next = looking.next(); ; next = looking.next()) {
    if (!next.done) continue;
    assert.equal(next.value, null);
    break;
  }
});

test("a context whose shapes have a long symbol is read in a time that is in proportion", () => {
  const length = 400000, count = 20000;
  const symbol = Buffer.concat([hexBytes("E1"), Buffer.of(0xFC), uint(length).subarray(1), Buffer.alloc(length, 0x61)]);
  const symbols = Array.from({ length: count }, (_, number) => encode({ [`key${number}`]: null }).slice(1, -1));
  const shapes = symbols.map((text) => Buffer.concat([hexBytes("02 C0"), text]));
  const context = new Context(Buffer.concat([hexBytes("1F 01"), symbol, Buffer.of(0xF8, (count - 6368) & 0xFF, (count - 6368) >> 8), ...shapes, hexBytes("00")]));
  // If the keys of each shape were put together, it would take minutes.
  const row = { ["a".repeat(length)]: 1, key17: 2 };
  assert.equal(decode(encode(row, { context }), { context }).key17, 2);
  assert.equal(context.shapeOf(["key17"]), undefined);
  assert.equal(context.shapeOf(["key17", "unknown"]), undefined);
  assert.throws(() => new Context(hexBytes("1F 00 02 01 81 61 01 81 61 00")), /a shape twice/);
});

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

/** The bytes that a value takes in memory: the least of three measurements, because the engine allocates for itself as well. */
function memoryOf(make) {
  let least = Infinity;
  for (let round = 0; round < 3; round++) {
    collect();
    const before = process.memoryUsage().heapUsed;
    const value = make();
    collect();
    least = Math.min(least, value && process.memoryUsage().heapUsed - before);
  }
  return least;
}

test("records without a value take little memory", () => {
  for (const record of ["01 7D", "01 1F"]) {
    const records = Buffer.concat([hexBytes("00"), ...Array(30000).fill(hexBytes(record))]);
    const { error } = openLog(logOf({ frames: [[0x05, records]] })).records[29999];
    assert.ok(error instanceof StowError && error.stack.includes(error.message));
    assert.ok(memoryOf(() => openLog(logOf({ frames: [[0x05, records]] }))) < 2e7, record);
  }
});

test("scopes without records take little memory", () => {
  const script = `
    import { openLog } from "./stow.js";
    import { logOf } from "./test/support/frames.js";
    const frames = Array(8000).fill([0x08, Uint8Array.of(0)]);
    const bytes = logOf(...Array(20).fill({ frames }));
    const before = process.resourceUsage().maxRSS;
    openLog(bytes);
    console.log(process.resourceUsage().maxRSS - before);
  `;
  const cwd = new URL("..", import.meta.url);
  const kilobytes = execFileSync(process.execPath, ["--input-type=module", "--eval", script], { cwd });
  console.log(`${kilobytes}`);assert.ok(Number(kilobytes) < 300000, `${kilobytes}`);
});

test("a UUID that is a constant takes memory once", () => {
  const rows = Buffer.concat([hexBytes("02 00 01 18 00*16"), Buffer.alloc(5000, 0x05)]);
  const message = Buffer.concat([hexBytes("7B"), uint(rows.length), rows]);
  assert.equal(String(decode(message)[4999][0]), "00000000-0000-0000-0000-000000000000");
  assert.ok(memoryOf(() => decode(message)) < 8e5);
});

test("keys that are indices take no memory for those below", () => {
  for (const key of ["1000", "5", "12", "999", "4321"]) {
    const rows = Buffer.concat([hexBytes("00 01"), Buffer.alloc(5000, 0x05)]);
    const text = encode({ [key]: 5 }).slice(1, -1);
    const table = Buffer.concat([hexBytes("1F 00 01 01"), text, hexBytes("7A"), uint(rows.length), rows]);
    const maps = Buffer.concat(Array(5000).fill(encode({ [key]: 5 })));
    const array = Buffer.concat([hexBytes("70"), uint(maps.length), maps]);
    for (const message of [table, array]) {
      assert.deepEqual(decode(message)[4999], { [key]: 5 });
      assert.ok(memoryOf(() => decode(message)) < 3e6, key);
    }
  }
  const value = decode(encode([{ 1000: 1, 5: 2, 6: 3, b: 4, 300: 5 }]))[0];
  assert.deepEqual(Object.entries(value), [["5", 2], ["6", 3], ["300", 5], ["1000", 1], ["b", 4]]);
  value[300]++;
  assert.equal(value[300], 6);
  assert.ok(delete value[1000]);
});

test("an array that is too long for the engine is refused", () => {
  // Making it would end the process.
  const bits = Buffer.concat([hexBytes("74"), uint(14000002), hexBytes("0C 00"), Buffer.alloc(14000000)]);
  const widths = hexBytes("74 06 0D FC 00 00 00 08");
  const symbols = hexBytes("1F FC 00 00 00 08");
  for (const message of [bits, widths, symbols]) {
    assert.throws(() => decode(message), { name: "StowError", message: /too many for an array/ });
    assert.throws(() => walk(message), { name: "StowError", message: /too many for an array/ });
  }
  for (const make of [() => new Int8Array(112000000), () => new Array(112000000)]) {
    assert.throws(() => encode(make()), { name: "StowError", message: /too many for an array/ });
  }
});

test("keys of messages do not stay in memory", () => {
  const keys = 20000;
  const message = (number) => {
    const texts = Array.from({ length: keys }, (_, index) => Buffer.from(`\x8E${number}!${index}`.padEnd(15, "!"), "latin1"));
    return Buffer.concat([hexBytes("1F 00 01"), uint(keys), ...texts, hexBytes("F0"), uint(keys), Buffer.alloc(keys, 0x91)]);
  };
  const read = (number) => Object.keys(decode(message(number))).length;
  read(100);
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let number = 101; number < 141; number++) assert.equal(read(number), keys);
  collect();
  assert.ok(process.memoryUsage().heapUsed - before < 10e6);
});
