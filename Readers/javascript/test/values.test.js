import assert from "node:assert/strict";
import { inspect } from "node:util";
import { test } from "node:test";

import { Context, Decimal, Float, NestedNil, StowDate, StowError, StowURL, UUID, at, decode, encode, openLog, walk } from "../stow.js";
import { logOf } from "./support/frames.js";
import { hex, hexBytes } from "./support/notation.js";

function again(value, options) { return decode(encode(value), options); }

test("keys that mean something to JavaScript are keys like others", () => {
  const names = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf", "length", "then", "0", "-1"];
  for (const value of [1, null, { polluted: true }]) {
    const entries = names.map((name) => [name, value]);
    const one = decode(encode(new Map(entries)));
    const several = decode(encode([new Map(entries), new Map(entries), new Map(entries)]));
    for (const object of [one, ...several]) {
      assert.deepEqual(Object.keys(object).sort(), [...names].sort());
      for (const name of names) assert.deepEqual(Object.getOwnPropertyDescriptor(object, name).value, value);
      assert.equal(Object.getPrototypeOf(object), Object.prototype);
    }
    assert.equal({}.polluted, undefined);
    assert.deepEqual([...again(new Map(entries), { objects: "map" }).keys()], names);
    assert.equal(hex(encode(one)), hex(encode(new Map(Object.entries(one)))));
  }
  const table = decode(encode([1, 2, 3].map((number) => new Map([["__proto__", number], ["constructor", number * 300]]))));
  assert.deepEqual(table.map((row) => Object.getOwnPropertyDescriptor(row, "__proto__").value), [1, 2, 3]);
});

test("sorted keys are in the order of their UTF-8", () => {
  const keys = ["", "a", "é", "\u0800", "\uC000", "\uD7FF", "\uE000", "\uFFFD", "\u{10000}", "\u{10000}a", "\u{10FFFF}"];
  const message = encode(new Map(keys.map((key) => [key, key.length]).reverse()), { sortedKeys: true });
  assert.deepEqual([...decode(message, { objects: "map" }).keys()], keys);
});

test("properties that all objects inherit are not asked", () => {
  const message = encode([new Map([["inherited", 1], ["other", 2]]), new Map([["inherited", 3], ["other", 4]]), new Map([["inherited", 5]])]);
  const set = () => assert.fail();
  Object.defineProperty(Object.prototype, "inherited", { configurable: true, set });
  try {
    const found = decode(message);
    assert.deepEqual(found.map((object) => Object.getOwnPropertyDescriptor(object, "inherited").value), [1, 3, 5]);
  } finally {
    delete Object.prototype.inherited;
  }
});

test("nothing that objects inherit becomes part of a value", () => {
  const message = encode([new Map([["value", 1], ["toString", 2]]), new Map([["value", 3], ["toString", 4]]), new Map([["5000", 5]])]);
  const integers = [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144].map((each) => each * 100000);
  const written = hex(encode(integers));
  const log = logOf({ frames: [[0x05, hexBytes("00 01 91")]] });
  for (const name of ["value", "get", "set", "writable", "base", "leftOut"]) {
    let rows, records, again;
    Object.defineProperty(Object.prototype, name, { configurable: true, writable: true, value: 7n });
    try {
      rows = decode(message);
      again = hex(encode(integers));
      records = openLog(log).records;
    } finally {
      delete Object.prototype[name];
    }
    assert.deepEqual(rows, [{ value: 1, toString: 2 }, { value: 3, toString: 4 }, { 5000: 5 }], name);
    assert.equal(again, written, name);
    assert.deepEqual(records, [{ number: 0, value: 1 }], name);
  }
});

test("integers are numbers where they are safe, and bigints where they are not", () => {
  const edges = [0n, 47n, 48n, -16n, -17n];
  for (const bits of [7n, 8n, 15n, 16n, 23n, 31n, 32n, 39n, 47n, 53n, 55n, 63n, 64n, 127n]) {
    for (const near of [-2n, -1n, 0n, 1n]) edges.push((1n << bits) + near, -(1n << bits) + near);
  }
  edges.push((1n << 128n) - 1n);
  for (const edge of edges) {
    if (edge < -(1n << 127n)) continue;
    const isSafe = edge >= BigInt(Number.MIN_SAFE_INTEGER) && edge <= BigInt(Number.MAX_SAFE_INTEGER);
    const expected = isSafe ? Number(edge) : edge;
    assert.equal(again(edge), expected);
    assert.deepEqual(again([edge, edge, 0]), [expected, expected, 0]);
    if (edge > -(1n << 127n)) assert.deepEqual(again([edge, 1n, edge - 1n, edge]).map(BigInt), [edge, 1n, edge - 1n, edge]);
  }
  assert.throws(() => encode(1n << 128n), StowError);
  assert.throws(() => encode(-(1n << 127n) - 1n), StowError);
  // Sums are modulo 2^64.
  assert.deepEqual(decode(hexBytes("74 0B B1 08 FF FF FF FF FF FF FF 7F 01")), [(1n << 63n) - 1n, -(1n << 63n)]);
});

test("floats keep their kind and their bits where exact values are asked for", () => {
  assert.equal(again(new Float(5)), 5);
  assert.deepEqual(again(new Float(5), { exact: true }), new Float(5));
  assert.equal(again(1e300, { exact: true }), 1e300);
  assert.ok(Object.is(again(-0), -0));
  assert.equal(hex(encode(NaN)), "0E000000000000F87F");
  for (const [bits, size] of [[0x7FF8000000000001n, 8], [0xFFF0000000000001n, 8], [0x7FA00001n, 4], [0xFFC00000n, 4]]) {
    const nan = Float.fromBits(bits, size);
    assert.ok(Number.isNaN(again(nan)));
    assert.deepEqual(again(nan, { exact: true }), nan);
    assert.deepEqual(again([nan, 0.5], { exact: true }), [nan, 0.5]);
  }
  assert.deepEqual(again(new Float64Array([1, 2.5]), { exact: true }), [new Float(1), 2.5]);
});

test("dates are exact", () => {
  for (const time of [0, 1, 978307200000, 1764068000123, -1e12, 4448587671141691, -4502459400957519, 8.64e15]) {
    const date = again(new Date(time));
    assert.equal(date.getTime(), time);
    assert.equal(date.constructor, Date);
  }
  for (const seconds of [0.1234567, 1e300, -Infinity, NaN, -0]) {
    const date = again(new StowDate(seconds));
    assert.ok(date instanceof StowDate && Object.is(date.seconds, seconds));
  }
  const changed = new StowDate(0.1234567);
  changed.setTime(5000);
  assert.equal(again(changed).getTime(), 5000);
  assert.throws(() => encode(new Date(NaN)), StowError);
});

test("all other values come back", () => {
  const value = {
    nil: null, inner: new NestedNil(2), yes: true, text: "größe 🚲", data: new Uint8Array([1, 2, 3]),
    id: new UUID("00112233-4455-6677-8899-aabbccddeeff"), url: new StowURL("https://swift.org"), price: new Decimal(1250n, -2),
    none: new Decimal(null), list: [[], {}, [null]],
  };
  assert.deepEqual(again(value), value);
  assert.equal(String(again(value.id)), "00112233-4455-6677-8899-AABBCCDDEEFF");
  assert.equal(again(new URL("https://swift.org")).href, "https://swift.org/");
  assert.equal(String(value.price), "12.50");
  assert.deepEqual(again(new Set([1, 2])), [1, 2]);
});

test("values of other kinds are shown and compared as what they are", () => {
  for (const [value, other] of [
    [new UUID("00112233-4455-6677-8899-AABBCCDDEEFF"), new UUID("00112233-4455-6677-8899-AABBCCDDEEFE")],
    [new Decimal(1250n, -2), new Decimal(1251n, -2)], [new StowURL("https://a.b"), new StowURL("https://a.c")],
    [new NestedNil(1), new NestedNil(2)], [new StowDate(1e-9), new StowDate(2e-9)], [new Float(5), new Float(6)],
  ]) {
    assert.notDeepEqual(value, other);
    assert.notEqual(inspect(value), inspect(other));
    assert.deepEqual(again(value, { exact: true }), value);
  }
});

test("what has no value in the format is an error, and a property that is undefined is none", () => {
  const others = [
    undefined, () => {}, Symbol("x"), [undefined], [, 1], "\uD800", { a: "\uDC00" }, { "\uD800": 1 }, new Map([[{}, 1]]),
    new Map([[1, 1], ["1", 2]]), new Map([[2, 1], [2n, 2]]),
    new Number(1), /x/, Promise.resolve(), new Error("x"),
  ];
  for (const value of others) assert.throws(() => encode(value), StowError);
  assert.throws(() => decode(hexBytes("91"), { objects: "maps" }), StowError);
  assert.throws(() => decode(hexBytes("91"), { depth: 1e6 }), StowError);
  assert.throws(() => decode("91"), StowError);
  class Point { x = 1; }
  assert.deepEqual(again(new Point()), { x: 1 });
  const shared = new Uint8Array(new SharedArrayBuffer(600));
  shared.set([0x1D, 0xE1, 0x56], 0);
  shared.fill(0x61, 3);
  assert.equal(decode(shared.subarray(0, 3 + 566)).length, 566);
  assert.deepEqual(again({ a: undefined, b: 1 }), { b: 1 });
});

test("what a getter or a proxy throws comes out as it is", () => {
  const own = () => { throw new RangeError("own"); };
  const message = encode(new Map([["a", 1]])), named = hexBytes("7F 01 32 40 89 27 91");
  for (const call of [
    () => encode({ get a() { return own(); } }), () => encode([[{ get a() { return own(); } }]]),
    () => encode(new Proxy({}, { ownKeys: own })), () => encode(1, { get depth() { return own(); } }),
    () => decode(message, { get depth() { return own(); } }), () => at(named, [], { contexts: { [Symbol.iterator]: own } }),
    () => walk(message, { get depth() { return own(); } }), () => walk(named, { contexts: { [Symbol.iterator]: own } }),
  ]) assert.throws(call, { name: "RangeError", message: "own" });
  const deep = (levels) => (levels === 0 ? {} : { get a() { return deep(levels - 1); } });
  assert.throws(() => encode(deep(2000)), StowError);
  // Firefox says it so.
  const full = Object.assign(new Error("too much recursion"), { name: "InternalError" });
  assert.throws(() => encode({ get a() { throw full; } }), StowError);
});

test("values of constant columns are not shared", () => {
  const rows = decode(encode([1, 2, 3].map((id) => ({ id: id * 1000, tags: [], more: {}, on: new Date(0) }))));
  rows[0].tags.push(1);
  rows[0].more.x = 1;
  rows[0].on.setTime(1);
  assert.deepEqual(rows[1], { id: 2000, tags: [], more: {}, on: new Date(0) });
});

test("contexts", () => {
  const context = new Context(hexBytes("1F 01 83 41 64 61 01 04 82 69 64 04 0D C0 10 82 6F 6E 04 8D 33 11 00"));
  assert.equal(context.id, 0x27894032);
  const message = hexBytes("7F 01 32 40 89 27 F8 04 07 95 50 02");
  assert.deepEqual(decode(message, { contexts: [context] }), { id: 5, name: "Ada", on: true });
  assert.throws(() => decode(message), /27894032/);
  const value = { id: 5, name: "Ada", on: true, note: "" };
  assert.equal(hex(encode(value, { context })), "7F0132408927F00495500230");
  assert.deepEqual(decode(encode(value, { context, settled: true }), { context }), value);
});

test("a message may name the context that is settled", () => {
  const context = new Context(hexBytes("1F 01 83 41 64 61 00 00"));
  const message = encode("Ada", { context });
  assert.equal(decode(message, { context }), "Ada");
  assert.equal(at(message, [], { context }), "Ada");
});

test("reading a message takes no longer if its context holds more", () => {
  const context = new Context(hexBytes("1F 01 83 41 64 61 00 00"));
  const message = encode("Ada", { context });
  Object.defineProperty(context, "message", { get: () => assert.fail("all that the context holds is looked at") });
  assert.equal(decode(message, { contexts: [context], context }), "Ada");
});

test("of two contexts of one id neither is taken", () => {
  const digits = ["1F 01 88 3F 31 33 37 31 38 33 38 00 00", "1F 01 88 3F 32 30 30 30 34 30 32 00 00"];
  const [one, other] = digits.map((each) => new Context(hexBytes(each)));
  assert.equal(one.id, other.id);
  const message = encode("?1371838", { context: one });
  assert.equal(decode(message, { contexts: [one, one] }), "?1371838");
  assert.throws(() => decode(message, { contexts: [one, other] }), /two contexts/);
  assert.throws(() => decode(message, { contexts: [other], context: one }), /two contexts/);
});

test("a context may have a shape of many keys", () => {
  const keys = Array.from({ length: 300 }, (_, index) => `key${index}`);
  const row = Object.fromEntries(keys.map((key, index) => [key, index * 1000]));
  const several = encode([row, { ...row, key7: "x" }]);
  const value = walk(several).find(({ kind, depth }) => depth === 0 && kind !== "prelude");
  // The prelude of a message, with nil after it, is that of a context.
  const context = new Context(Uint8Array.of(...several.subarray(0, value.start), 0x00));
  const message = encode(row, { context });
  assert.equal(walk(message, { contexts: [context] })[2].kind, "record");
  assert.deepEqual(decode(message, { contexts: [context] }), row);
});

test("an index is an integer that a number holds exactly", () => {
  const packed = encode([1000, 2000, 3000]), object = encode({ 9007199254740992: 1 });
  assert.equal(at(packed, "[1]"), 2000);
  assert.equal(at(packed, "[999999999999999]"), undefined);
  for (const step of [0.5, NaN, 2 ** 53, null]) assert.throws(() => at(packed, [step]), StowError);
  assert.throws(() => at(object, "[9007199254740993]"), StowError);
  assert.equal(at(object, '["9007199254740992"]'), 1);
});

test("a decimal number is made of an integer", () => {
  for (const significand of [1.5, NaN, Infinity]) assert.throws(() => new Decimal(significand), StowError);
  assert.equal(String(new Decimal(125, -1)), "12.5");
});

test("errors say where and why", () => {
  try {
    decode(hexBytes("E2 91 7D"));
    assert.fail();
  } catch (error) {
    assert.ok(error instanceof StowError && error instanceof Error);
    assert.equal(error.offset, 2);
    assert.match(error.rule, /tag 7D is reserved/);
  }
});

test("a part of a record that goes on after its last value is refused", () => {
  for (const digits of ["1F 00 01 01 81 61 F0 02 91 92", "1F 00 01 01 81 61 F8 02 00 91", "1F 00 01 01 81 61 F8 03 01 91 92"]) {
    for (const path of ["a", "b", "[]"]) assert.throws(() => at(hexBytes(digits), path), StowError, `${path} of ${digits}`);
  }
});
