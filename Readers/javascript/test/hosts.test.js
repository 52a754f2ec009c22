import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { runInNewContext } from "node:vm";

import * as here from "../stow.js";
import { described, hex } from "./support/notation.js";
import { writableVectors, vectors } from "./support/vectors.js";

const EXACT = { exact: true, objects: "map" };

/** The module as a browser has it, where there is no Buffer. */
async function withoutBuffer() {
  const { Buffer } = globalThis;
  delete globalThis.Buffer;
  try {
    return await import("../stow.js?browser");
  } finally {
    globalThis.Buffer = Buffer;
  }
}

test("a host without Buffer reads and writes the same", async (context) => {
  const there = await withoutBuffer();
  assert.notEqual(there.decode, here.decode);
  const plain = writableVectors.filter((vector) => !vector.hasContext);
  for (const { bytes, name } of plain) {
    const again = there.encode(there.decode(bytes, EXACT));
    assert.equal(hex(again), hex(here.encode(here.decode(bytes, EXACT))), name);
    assert.equal(described(here.decode(again, EXACT)), described(here.decode(bytes, EXACT)), name);
  }
  for (const { kind, bytes, hasContext } of vectors) {
    if (kind === "refused" && !hasContext) assert.throws(() => there.decode(bytes), there.StowError);
  }
  context.diagnostic(`${plain.length} of ${plain.length} passed`);
});

test("bytes of another context are bytes", () => {
  const [bytes, buffer, view, doubles] = runInNewContext(`[
    Uint8Array.of(1, 2), Uint8Array.of(1, 2).buffer, new DataView(Uint8Array.of(1, 2).buffer), Float64Array.of(1, 2.5),
  ]`);
  for (const data of [bytes, buffer, view]) assert.equal(hex(here.encode(data)), "19020102");
  assert.equal(hex(here.encode(doubles)), hex(here.encode(Float64Array.of(1, 2.5))));
  assert.equal(here.decode(runInNewContext("Uint8Array.of(0x91).buffer")), 1);
  class Other { get [Symbol.toStringTag]() { return "ArrayBuffer"; } }
  for (const call of [here.encode, here.decode]) assert.throws(() => call(new Other()), here.StowError);
});

test("memory that was transferred or has shrunk is an error", () => {
  const gone = (make, after) => {
    const buffer = new ArrayBuffer(64, { maxByteLength: 64 });
    const source = make(buffer);
    after(buffer);
    return source;
  };
  const transfer = (buffer) => structuredClone(buffer, { transfer: [buffer] });
  const sources = [gone((buffer) => buffer, transfer)];
  for (const View of [Uint8Array, Float64Array, BigInt64Array, DataView]) {
    sources.push(gone((buffer) => new View(buffer, 32), transfer));
    // Hosts in which memory has one size ignore that it may have another.
    if ("resize" in ArrayBuffer.prototype) sources.push(gone((buffer) => new View(buffer, 32, 2), (buffer) => buffer.resize(16)));
  }
  for (const source of sources) {
    for (const call of [here.encode, here.decode, here.openLog, (bytes) => new here.StreamReader().push(bytes)]) {
      assert.throws(() => call(source), { name: "StowError", message: /memory/ });
    }
  }
});

test("what a typed array of the caller throws comes out as it is", () => {
  class Own extends Uint8Array { get byteOffset() { throw new RangeError("own"); } }
  for (const call of [here.encode, here.decode]) assert.throws(() => call(new Own(4)), { name: "RangeError", message: "own" });
});

test("a message that the engine has no memory for is an error", () => {
  const { Uint8Array } = globalThis;
  globalThis.Uint8Array = new Proxy(Uint8Array, {
    construct(target, words) {
      if (words[0] > 100000) throw new RangeError(`Invalid typed array length: ${words[0]}`);
      return Reflect.construct(target, words, target);
    },
  });
  try {
    assert.throws(() => here.encode("long".repeat(100000)), { name: "StowError", message: /no room/ });
  } finally {
    globalThis.Uint8Array = Uint8Array;
  }
});

test("a long string that is not UTF-8 is called so by decoders of other contexts", () => {
  const { decode } = TextDecoder.prototype;
  TextDecoder.prototype.decode = function (bytes) {
    try {
      return decode.call(this, bytes);
    } catch {
      throw runInNewContext("new TypeError()");
    }
  };
  try {
    const message = here.encode("long".repeat(2000));
    message[message.length - 9] = 0xFF;
    assert.throws(() => here.decode(message), { name: "StowError", message: /not UTF-8/ });
  } finally {
    TextDecoder.prototype.decode = decode;
  }
});

test("memory that can be resized is read where the decoders of the host refuse it", async () => {
  const there = await withoutBuffer();
  const { decode } = TextDecoder.prototype;
  // As Web IDL says.
  TextDecoder.prototype.decode = function (bytes) {
    if (bytes.buffer.resizable) throw new TypeError("the bytes must not be resizable");
    return decode.call(this, bytes);
  };
  try {
    for (const value of ["short", "long".repeat(1000)]) {
      const message = here.encode(value);
      const buffer = new ArrayBuffer(message.length, { maxByteLength: 10000 });
      new Uint8Array(buffer).set(message);
      for (const source of [buffer, new Uint8Array(buffer), new DataView(buffer)]) {
        for (const each of [here, there]) assert.equal(each.decode(source), value);
      }
    }
  } finally {
    TextDecoder.prototype.decode = decode;
  }
});

test("a string that is too long for the host is not called broken", () => {
  const { decode } = TextDecoder.prototype;
  // As Node says of more than 512 MB.
  TextDecoder.prototype.decode = () => { throw Object.assign(new Error("too long"), { code: "ERR_STRING_TOO_LONG" }); };
  try {
    assert.throws(() => here.decode(here.encode("long".repeat(1000))), { name: "StowError", message: /4000 bytes is too long/ });
  } finally {
    TextDecoder.prototype.decode = decode;
  }
});

test("errors are those of the module where built-in objects are frozen", () => {
  const script = `
    import { decode, StowError } from "./stow.js";
    Object.freeze(Error.prototype);
    try {
      decode(Uint8Array.of(0x7D));
    } catch (error) {
      console.log(error.name, error instanceof StowError);
    }
  `;
  const run = ["--input-type=module", "--eval", script];
  assert.equal(String(execFileSync(process.execPath, run, { cwd: new URL("..", import.meta.url) })), "StowError true\n");
});

test("the declarations for TypeScript declare what is exported", () => {
  const text = readFileSync(new URL("../stow.d.ts", import.meta.url), "utf8");
  const names = [...text.matchAll(/^export (?:class|function|const) (\w+)/gm)].map(([, name]) => name);
  assert.deepEqual(names.sort(), Object.keys(here).sort());
  for (const [, name, body] of text.matchAll(/^export class (\w+).*?\{$(.*?)^\}/gms)) {
    const members = [...body.matchAll(/^  (?:static |get )?(\w+)\(/gm)].map(([, member]) => member);
    for (const member of members) assert.ok(member in here[name].prototype || member in here[name], `${name}.${member}`);
  }
});

test("the packages have the license", () => {
  const license = (folder) => readFileSync(new URL(`../../../${folder}LICENSE`, import.meta.url), "utf8");
  for (const folder of ["Readers/javascript/", "Readers/python/"]) assert.equal(license(folder), license(""));
});
