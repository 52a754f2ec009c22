import assert from "node:assert/strict";
import { test } from "node:test";

import { StowError, decode, encode } from "../stow.js";
import { notation } from "./support/diagnostic.js";
import { described, hex, parse } from "./support/notation.js";
import { generated, isMeaning, lines, meanings, validVectors, vectors, writableVectors } from "./support/vectors.js";

/** Says how many of how many passed, and fails if some did not. */
function tally(context, cases, check) {
  const failures = [];
  for (const each of cases) {
    try {
      check(each);
    } catch (error) {
      failures.push(`${each.file ?? ""} ${each.name ?? hex(each.bytes)}: ${error.message}`);
    }
  }
  context.diagnostic(`${cases.length - failures.length} of ${cases.length} passed`);
  assert.deepEqual(failures, []);
}

test("valid vectors have their meaning", (context) => {
  tally(context, validVectors, (vector) => assert.equal(described(vector.decoded()), described(vector.value)));
});

test("valid vectors have their notation", (context) => {
  tally(context, validVectors, (vector) => {
    const text = notation(vector.decoded());
    assert.ok(isMeaning(meanings.get(vector.name), text), text);
  });
  assert.equal(meanings.size, validVectors.length);
});

test("messages made at random have their meaning", (context) => {
  tally(context, generated(), ({ bytes, meaning }) => {
    if (meaning === "refused") assert.throws(() => decode(bytes), StowError);
    else assert.equal(notation(decode(bytes, { exact: true, objects: "map" })), meaning);
  });
});

test("canonical messages are written again as the same bytes", (context) => {
  const canonical = generated().filter(({ isCanonical }) => isCanonical);
  assert.ok(canonical.length > 1_000);
  tally(context, canonical, ({ bytes }) => {
    assert.equal(hex(encode(decode(bytes, { exact: true, objects: "map" }))), hex(bytes));
  });
});

test("vectors are objects where no Map is asked for", (context) => {
  tally(context, validVectors, (vector) => {
    assert.equal(described(vector.decoded(vector.bytes, { exact: true })), described(vector.value));
  });
});

test("refused vectors are refused", (context) => {
  tally(context, vectors.filter(({ kind }) => kind === "refused"), (vector) => {
    assert.throws(() => vector.decoded(), StowError);
  });
});

/** Of objects whose keys are fixed, it is not known that they are: as in the library, these are written otherwise. */
const REWRITTEN = new Set([
  "records-partial", "records-partial-empty", "records-nine-shapes", "slots-asked-for-count", "slots-sorted",
  "slots-sorted-without-free-keys", "table-with-absent", "mixed-fixed-and-free", "slots-of-three-types",
  "symbol-fixed-keys-come-last",
]);

function written(vector, message = vector.bytes) {
  const options = { sortedKeys: vector.flags.has("sorted") };
  const context = vector.hasContext ? { context: vector.context, settled: vector.isImplicit } : {};
  return encode(vector.decoded(message), { ...options, ...context });
}

test("canonical vectors are written again as the same bytes", (context) => {
  const canonical = vectors.filter((vector) => {
    return vector.kind === "canonical" && (vector.hasContext ? vector.hasFreeKeys : !REWRITTEN.has(vector.name));
  });
  tally(context, canonical, (vector) => assert.equal(hex(written(vector)), hex(vector.bytes)));
});

test("all valid vectors are written again with the same meaning", (context) => {
  tally(context, writableVectors, (vector) => {
    const again = written(vector);
    assert.equal(described(vector.decoded(again)), described(vector.value));
    // What it writes comes back as the same bytes.
    assert.equal(hex(written(vector, again)), hex(again));
  });
});

test("a message that is cut off is refused", () => {
  for (const vector of validVectors) {
    const { bytes } = vector;
    if (bytes.length > 200) continue;
    for (let size = 0; size < bytes.length; size++) {
      assert.throws(() => vector.decoded(bytes.subarray(0, size)), StowError, `${vector.name} of ${size} bytes`);
    }
  }
});

test("what FORMAT.md accepts and refuses", () => {
  const accepted = lines("stow-accepted"), refused = lines("stow-refused");
  assert.ok(accepted.length > 5 && refused.length > 20);
  for (const { bytes, text } of accepted) {
    assert.equal(described(decode(bytes, { exact: true, objects: "map" })), described(parse(text)));
  }
  for (const { bytes, text } of refused) assert.throws(() => decode(bytes), StowError, text);
});
