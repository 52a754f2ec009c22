// The parts of the page that need no browser.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Context, decode, each, encode, openLog, outline, parsePath } from "../../javascript/stow.js";
import { contexts, lines, logBytes, logNames, vectors } from "../../javascript/test/support/vectors.js";
import { json, notation, pathText } from "../source/notation.js";
import { Records } from "../source/records.js";
import { search } from "../source/search.js";
import { measure } from "../source/sizes.js";
import { Tree, placeOfByte } from "../source/tree.js";

const EXACT = { exact: true, objects: "map" };
const options = { ...EXACT, contexts: contexts.map((message) => new Context(message)) };

function ended(steps) {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

function pathsOf(value, text) {
  const root = outline(encode(value), EXACT), tree = new Tree(root), found = [];
  ended(search(root, text, found));
  return found.map((place) => pathText(tree.steps(place)));
}

test("values are written as the examples of the notation say", () => {
  for (const { bytes, text } of lines("stow-notation")) assert.equal(notation(decode(bytes, EXACT)), text);
});

test("no more text is made than is wanted", () => {
  const long = "x".repeat(1000000);
  for (const value of [Array(3000).fill(long), new Map([["a", [Array(1000).fill(long)]]])]) {
    const text = notation(value, 5000);
    assert.ok(text.length > 5000 && text.length < 1100000 && /x",\n *…\n/.test(text));
  }
  assert.equal(notation([1, [2, 3]], 9), notation([1, [2, 3]]));
});

test("JSON is that of the values", () => {
  const value = { a: [1, 2.5, "x", null, true], "\u202e": "</script>" };
  assert.deepEqual(JSON.parse(json(decode(encode(value), EXACT))), value);
  assert.throws(() => json(decode(encode([NaN]), EXACT)), /JSON has no number/);
});

test("sizes are those of all bytes", () => {
  const all = [...vectors.map(({ bytes }) => bytes), ...logNames.map(logBytes)];
  for (const bytes of all) assert.equal(ended(measure(outline(bytes, options))).total, bytes.length);
});

test("the sizes of a map of very many keys are measured", () => {
  const value = Object.fromEntries(Array.from({ length: 200000 }, (_, index) => [`key${index}`, 1]));
  const bytes = encode(value);
  assert.equal(ended(measure(outline(bytes, EXACT))).total, bytes.length);
});

test("paths and words are found", () => {
  const value = { people: [{ name: "Ada", tags: ["a"] }, { name: "Grace", tags: [] }, { name: "Linus", age: 3 }], "a b": 1 };
  assert.deepEqual(pathsOf(value, "people[1].name"), ["people[1].name"]);
  assert.deepEqual(pathsOf(value, "people[].name"), ["people[0].name", "people[1].name", "people[2].name"]);
  assert.deepEqual(pathsOf(value, '["a b"]'), ['["a b"]']);
  assert.deepEqual(pathsOf(value, "grace"), ["people[1].name"]);
  assert.deepEqual(pathsOf(value, "people[9]"), []);
});

test("the path of any key leads to it", () => {
  for (const key of ["a b", "\\b", "\\u0041", "\b\b\f\u0000", "\u202E", '"]', "\n\r\t", "[]", "[-1]", "größe", ""]) {
    assert.deepEqual(parsePath(pathText(["a", key, 0])), ["a", key, 0]);
  }
});

test("a path says what stands for all elements", () => {
  assert.equal(pathText(["a", each, "b", 3, "c d"]), 'a[].b[3]["c d"]');
});

test("the list of a log has its records, each with its value and its bytes", () => {
  for (const name of logNames) {
    const bytes = logBytes(name), log = openLog(bytes, options);
    const list = ended(new Records(outline(bytes, options)).find());
    const numbers = new Set();
    for (let index = 0; index < list.count; index++) {
      const part = list.part(index);
      if (part.step === null) {
        assert.ok(part.error, name);
        continue;
      }
      numbers.add(part.step);
      assert.equal(part.error, null);
      const record = log.records.find(({ number }) => number === part.step);
      if (record && log.damage.length === 0) assert.equal(notation(part.read()), notation(record.value), name);
      if (part.bytes === list.bytes) assert.equal(list.indexAt(part.first), index, name);
      if (record && log.damage.length === 0) assert.equal(list.indexOf(part.step), index, name);
    }
    for (const { number } of log.records) assert.ok(numbers.has(number), `${name}: ${number}`);
    assert.equal(list.indexAt(0), -1, name);
  }
});

test("rows and places are the same, whatever is open", () => {
  const root = outline(encode(Array.from({ length: 30 }, (_, index) => ({ id: index, list: ["a", [index]] }))), EXACT);
  const tree = new Tree(root);
  tree.openBelow([], 120);
  tree.close([root.count - 1, 2]);
  for (let row = 0; row < tree.rows; row++) assert.equal(tree.rowOf(tree.placeAt(row)), row);
  const place = placeOfByte(tree, [], root.until - 1);
  assert.deepEqual(tree.placeAt(tree.reveal(place)), place);
});
