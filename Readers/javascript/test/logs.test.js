import assert from "node:assert/strict";
import { test } from "node:test";

import { StowError, StreamReader, openLog, readStream, readStreamFrom } from "../stow.js";
import { notation } from "./support/diagnostic.js";
import { described, hexBytes } from "./support/notation.js";
import { logOf, stream } from "./support/frames.js";
import { examples, expectedFolder, expectedLog, folderFiles, folderNames, logBytes, logNames, smallLogs, streams } from "./support/vectors.js";

const EXACT = { exact: true, objects: "map" };

function numbersOf(ranges) {
  return ranges.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, index) => start + index));
}

function assertLog(log, expected, name) {
  const found = new Map(log.records.map(({ number, value }) => [number, described(value)]));
  const wanted = new Map([...expected.records].map(([number, value]) => [number, described(value)]));
  assert.deepEqual(found, wanted, name);
  assert.deepEqual(numbersOf(log.lost), expected.lost, name);
  assert.equal(log.first, expected.first, name);
  assert.equal(log.end, expected.end, name);
}

test("golden logs have their records", (context) => {
  for (const name of logNames) assertLog(openLog(logBytes(name), EXACT), expectedLog(name), name);
  context.diagnostic(`${logNames.length} of ${logNames.length} logs passed`);
});

/** What logs.txt says of a log. */
function told(bytes) {
  let log;
  try {
    log = openLog(bytes, EXACT);
  } catch (error) {
    if (!(error instanceof StowError)) throw error;
    return { kind: "refused", records: [], lost: undefined, end: undefined };
  }
  const lost = log.lost.map(({ start, end }) => {
    const last = BigInt(end) - 1n;
    return last > start ? `${start}-${last}` : `${start}`;
  }).join(" ");
  const records = log.records.map((record) => `${record.number} ${record.error ? "error" : notation(record.value)}`);
  return { kind: "log", records, lost: lost || undefined, end: String(log.end) };
}

test("small logs have their records and losses", (context) => {
  assert.ok(smallLogs.length > 300);
  let passed = 0;
  const failures = [];
  for (const { kind, name, records, bytes, fields } of smallLogs) {
    const found = told(bytes), wanted = { kind, records, lost: fields.lost, end: fields.end };
    if (JSON.stringify(found) === JSON.stringify(wanted)) passed++;
    else failures.push(`${name}: ${JSON.stringify(found)} in place of ${JSON.stringify(wanted)}`);
  }
  context.diagnostic(`${passed} of ${smallLogs.length} logs passed`);
  assert.deepEqual(failures, []);
});

test("golden folders of segments have their records", (context) => {
  for (const name of folderNames) assertLog(openLog(folderFiles(name), EXACT), expectedFolder(name), name);
  context.diagnostic(`${folderNames.length} of ${folderNames.length} folders passed`);
});

test("damage in a folder names the file, and other files do not matter", () => {
  const files = folderFiles("lost"), log = openLog(files);
  assert.ok(log.damage.length > 1 && log.damage.every(({ file }) => files.has(file)));
  files.set("stowlog-lock", new Uint8Array(0));
  // No first record has such a number.
  for (const number of [2n ** 62n, 10n ** 20n - 1n]) {
    files.set(`${String(number).padStart(20, "0")}.stowlog`, [...files.values()][0]);
  }
  assert.deepEqual(openLog(files), log);
  for (const others of [new Map(), new Map([["stowlog-lock", new Uint8Array(0)]])]) assert.throws(() => openLog(others), StowError);
});

test("a segment whose origin is damaged is one of the log", () => {
  const whole = openLog(folderFiles("removed"));
  for (const name of [...folderFiles("removed").keys()].filter((name) => name.endsWith(".stowlog")).sort()) {
    const files = folderFiles("removed"), bytes = Uint8Array.from(files.get(name));
    bytes[40] ^= 1;
    files.set(name, bytes);
    const log = openLog(files), first = Number(name.slice(0, 20));
    assert.ok(numbersOf(log.lost).every((number) => number >= first && number < first + 6), name);
    assert.equal(log.records.length + numbersOf(log.lost).length >= whole.records.length, true, name);
  }
});

test("a segment with the name of another hides nothing", () => {
  const files = folderFiles("removed"), names = [...files.keys()].filter((name) => name.endsWith(".stowlog")).sort();
  const last = names.at(-1), first = Number(last.slice(0, 20));
  const whole = openLog(files);
  files.set(last, files.get(names[0]));
  const log = openLog(files);
  assert.deepEqual([log.count, log.lost], [first, []]);
  assert.deepEqual(log.records.map(({ number }) => number), whole.records.map(({ number }) => number).filter((number) => number < first));
  assert.deepEqual(log.damage.map(({ file, reason }) => [file, reason]), [[last, "head"]]);
});

test("examples of logs have their records", () => {
  const all = examples("stow-log");
  assert.ok(all.length > 3);
  for (const { name, bytes, records } of all) {
    const log = openLog(bytes, EXACT);
    assert.deepEqual(log.records.map(({ value }) => described(value)), records.map(described), name);
    assert.equal(log.end, bytes.length, name);
    assert.deepEqual(log.damage, [], name);
    assert.deepEqual(log.lost, [], name);
  }
});

test("damage is told", () => {
  const log = openLog(logBytes("damaged"));
  assert.deepEqual(log.lost, [{ start: 8, end: 9 }]);
  assert.equal(log.damage.length, 1);
  assert.ok(log.damage[0].start <= 1000 && log.damage[0].end > 1000);
  assert.equal(openLog(examples("stow-log").find(({ name }) => name === "log-compacted").bytes).origin.identity, "0102030405060708");
});

test("what is no log is refused", () => {
  for (const bytes of [new Uint8Array(0), new Uint8Array(70000), hexBytes("7F 02 01 00"), logBytes("records").subarray(0, 20)]) {
    assert.throws(() => openLog(bytes), StowError);
  }
});

test("records that were left out or given up are not lost", () => {
  const abandoned = examples("stow-log").find(({ name }) => name === "log-abandoned").bytes;
  assert.deepEqual(openLog(abandoned).absent, [{ start: 0, end: 1 }]);
  const log = openLog(logOf({ frames: [[0x01, hexBytes("00 00 03 01 91 00 02")], [0x05, hexBytes("06 01 92")]] }));
  assert.deepEqual([log.records.map(({ number }) => number), log.lost], [[3, 6], []]);
  assert.deepEqual(log.absent, [{ start: 0, end: 3 }, { start: 4, end: 6 }]);
  assert.deepEqual(openLog(folderFiles("removed")).absent, [{ start: 8, end: 9 }, { start: 13, end: 14 }]);
});

test("records left out that do not count are not absent", () => {
  const damaged = [[0x01, hexBytes("00 01 91")], [0x04, hexBytes("00 91")], [0x05, hexBytes("09 00 03")]];
  const log = openLog(logOf({ frames: damaged }, { first: 5, frames: [[0x01, hexBytes("05 01 92")]] }));
  assert.deepEqual([log.records.map(({ number }) => number), log.lost, log.absent], [[0, 5], [{ start: 1, end: 5 }], []]);
});

test("records left out that do not count hide no others", () => {
  const { records, lost, absent } = openLog(logOf(
    { frames: [[0x01, hexBytes("00 01 91")], [0x04, hexBytes("00 91")], [0x05, hexBytes("02 00 03")]] },
    { first: 3, frames: [] }, { first: 1, frames: [[0x05, hexBytes("01 01 92")]] },
  ));
  assert.deepEqual([records.map(({ number }) => number), lost, absent], [[0, 1], [], []]);
});

test("numbers given up that do not count are not absent", () => {
  const records = [[0x01, hexBytes("00 01 91 01 92")], [0x02, hexBytes("02 02 04 01")]];
  const log = openLog(logOf({ frames: records }, { first: 4, frames: [[0x0a, hexBytes("02 02")]] }, { first: 3, frames: [] }));
  assert.deepEqual([log.count, log.lost, log.absent], [3, [], [{ start: 2, end: 3 }]]);
});

test("a group whose parts end is lost, though it is given up later", () => {
  // A last part has more bytes than the first one says; after one from the middle, the group is given up itself.
  for (const [kind, lost, absent] of [[0x04, [{ start: 1, end: 2 }], []], [0x03, [], [{ start: 1, end: 2 }]]]) {
    const log = openLog(logOf(
      { frames: [[0x01, hexBytes("00 01 91")], [0x02, hexBytes("01 01 02 01")]] },
      { first: 2, frames: [[kind, hexBytes("01 91 91")]] },
      { first: 2, frames: [[0x0A, hexBytes("01 01")], [0x05, hexBytes("02 01 92")]] },
    ));
    assert.deepEqual([log.records.map(({ number }) => number), log.count, log.lost, log.absent], [[0, 2], 3, lost, absent]);
  }
});

test("a group that was given up is no damage, however long it was", () => {
  // The first part of a group of 2 records and 9 bytes, a part with more bytes than that, and that it was given up.
  const bytes = logOf(
    { frames: [[0x02, hexBytes("00 02 09 01 91")]] },
    { first: 2, frames: [[0x03, hexBytes("01 01 91 01 91 01 91 01 91")]] },
    { first: 2, frames: [[0x0A, hexBytes("00 02")]] },
  );
  for (const options of [{}, { recordSize: 5 }]) {
    const { absent, lost, damage } = openLog(bytes, options);
    assert.deepEqual([absent, lost, damage], [[{ start: 0, end: 2 }], [], []]);
  }
});

test("a wrong option is an error, and no fault of the records", () => {
  const bytes = logBytes("records"), [{ bytes: some }] = examples("stow-stream");
  for (const options of [{ depth: 5000 }, { objects: "maps" }, { recordSize: NaN }]) {
    assert.throws(() => openLog(bytes, options), /the option/);
    assert.throws(() => new StreamReader(options), /the option/);
    assert.throws(() => [...readStream(some, options)], /the option/);
  }
});

test("a stream that cannot be iterated is read, as browsers have them", async () => {
  const [{ bytes, records }] = examples("stow-stream");
  let isCanceled = false;
  const streamOf = () => new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += 7) controller.enqueue(bytes.subarray(at, at + 7));
      controller.close();
    },
    cancel() { isCanceled = true; },
  });
  const found = [];
  for (const isIterable of [true, false]) {
    const stream = streamOf();
    if (!isIterable) hide(stream, Symbol.asyncIterator);
    for await (const { value } of readStreamFrom(stream, EXACT)) found.push(described(value));
    const stopped = streamOf();
    if (!isIterable) hide(stopped, Symbol.asyncIterator);
    for await (const _ of readStreamFrom(stopped)) break;
    assert.ok(isCanceled);
    isCanceled = false;
  }
  assert.deepEqual(found, [...records, ...records].map(described));
});

test("what holds no bytes of a stream is named", async () => {
  for (const source of [new Response("x"), Promise.resolve([])]) {
    await assert.rejects(readStreamFrom(source).next(), { name: "TypeError", message: /\bchunks\b/ });
  }
});

test("examples of streams have their records", async () => {
  for (const { bytes, records } of examples("stow-stream")) {
    const found = [...readStream(bytes, EXACT)].map(({ value }) => described(value));
    assert.deepEqual(found, records.map(described));
    for (const size of [1, 2, 3, 7]) {
      const parts = [];
      for await (const { value } of readStreamFrom(chunks(bytes, size), EXACT)) parts.push(described(value));
      assert.deepEqual(parts, found);
    }
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = bytes.slice();
      changed[bit >> 3] ^= 1 << (bit & 7);
      assert.throws(() => [...readStream(changed)], StowError, `bit ${bit}`);
    }
  }
});

test("streams have their records or are refused", (context) => {
  for (const { name, kind, bytes, records } of streams) {
    const found = [];
    let isRefused = false;
    try {
      for (const { value, error } of readStream(bytes, EXACT)) found.push(error ? "error" : notation(value));
    } catch (error) {
      if (!(error instanceof StowError)) throw error;
      isRefused = true;
    }
    assert.deepEqual([found, isRefused], [records, kind === "refused"], name);
  }
  context.diagnostic(`${streams.length} of ${streams.length} streams passed`);
});

/** Takes a method away that all of the class have. */
function hide(object, name) { Object.defineProperty(object, name, { value: undefined }); }

async function* chunks(bytes, size) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

function read(...records) { return [...readStream(stream(...records))]; }

test("streams without records, and streams that are cut off", () => {
  assert.deepEqual([...readStream(new Uint8Array(0))], []);
  assert.deepEqual(read(), []);
  assert.throws(() => [...readStream(hexBytes("7F 03"))], StowError);
  assert.throws(() => [...readStream(hexBytes("7F 03 01 FC 00 00 00 00"))], StowError);
  assert.throws(() => [...readStream(stream(hexBytes("91")).subarray(0, 10))], StowError);
});

test("a value that is not valid is passed over, definitions that are not valid end the stream", () => {
  const found = read(hexBytes("1F 01 83 41 64 61 00 7D"), hexBytes("50"));
  assert.ok(found[0].error instanceof StowError);
  assert.equal(found[1].value, "Ada");
  assert.throws(() => read(hexBytes("1F 01 81 FF 00 91"), hexBytes("91")), StowError);
});

test("records before an error are there", () => {
  const bytes = stream(hexBytes("91"), hexBytes("92"));
  bytes[bytes.length - 1] ^= 1;
  const found = [];
  assert.throws(() => { for (const { value } of readStream(bytes)) found.push(value); }, StowError);
  assert.deepEqual(found, [1]);
  const reader = new StreamReader();
  assert.deepEqual(reader.push(bytes), [{ number: 0, value: 1 }]);
  assert.throws(() => reader.push(hexBytes("00")), StowError);
  assert.throws(() => reader.finish(), StowError);
});

test("the preludes of a stream have a limit", () => {
  const record = (size) => {
    const text = Buffer.alloc(size - 9, "-"), length = Buffer.alloc(4);
    length.writeUInt32LE(text.length);
    return Buffer.concat([hexBytes("1F 01 E1 FC"), length, text, hexBytes("00 91")]);
  };
  const limit = 1 << 20;
  assert.deepEqual(read(record(limit)), [{ number: 0, value: 1 }]);
  for (const records of [[record(limit + 1)], [record(limit), record(300000)], [record(limit), hexBytes("1F 00 00 91")]]) {
    assert.throws(() => read(...records), StowError);
  }
});

test("a record that defines more than the engine takes has an error", () => {
  const keys = Array.from({ length: 9 }, (_, index) => Buffer.of(0x81, 0x21 + index));
  const record = Buffer.concat([hexBytes("1F 00 01 09"), ...keys, hexBytes("90")]);
  const log = logOf({ frames: [[0x05, Buffer.concat([hexBytes("00"), Buffer.of(record.length), record])], [0x05, hexBytes("01 01 91")]] });
  const { add } = Set.prototype;
  // V8 takes some 17 million.
  Set.prototype.add = function (key) {
    if (this.size === 8) throw new RangeError("Set maximum size exceeded");
    return add.call(this, key);
  };
  try {
    const [first, second] = openLog(log).records;
    assert.ok(first.error instanceof StowError);
    assert.equal(second.value, 1);
  } finally {
    Set.prototype.add = add;
  }
});
