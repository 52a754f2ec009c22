// Finds the places to which a path leads, or where a word stands.

import { each, parsePath } from "../../javascript/stow.js";
import { Records } from "./records.js";

const MOST = 10000;
const AROUND = new Set(["log", "block", "frame", "stream"]);

/** The values of all messages: one, or those of the records. Yields null now and then, so that something else can be done. */
function* messages(part, place, record) {
  if (part instanceof Records) {
    const [from, to] = record === null ? [0, part.count] : [part.indexOf(record), part.indexOf(record) + 1];
    for (let index = Math.max(0, from); index < to; index++) yield { part: part.part(index), place: [...place, index] };
    return;
  }
  if (part.kind === "message") {
    if (record !== null && part.step !== null && part.step !== record) return;
    const index = part.nested?.main ?? 0;
    const value = part.count > 0 ? part.part(index) : null;
    if (value?.kind === "message") yield* messages(value, [...place, index], null);
    else if (value) yield { part: value, place: [...place, index] };
    return;
  }
  for (let index = 0; index < part.count; index++) {
    const nested = part.part(index);
    if (AROUND.has(nested.kind) || nested.kind === "message" || nested.kind === "data") {
      yield null;
      yield* messages(nested, [...place, index], record);
    }
  }
}

function* follow(part, place, steps, at) {
  if (at === steps.length) {
    yield place;
    return;
  }
  if (steps[at] !== each) {
    const index = part.indexOf(steps[at]);
    if (index >= 0) yield* follow(part.part(index), [...place, index], steps, at + 1);
    return;
  }
  for (let index = 0; index < part.count; index++) {
    const nested = part.part(index);
    if (index % 256 === 0) yield null;
    if (nested.step !== null) yield* follow(nested, [...place, index], steps, at + 1);
  }
}

/** Everything whose key or text has a word in it. */
function* having(part, place, word) {
  for (let index = 0; index < part.count; index++) {
    const nested = part.part(index);
    if (index % 256 === 0) yield null;
    const isKey = typeof nested.step === "string" && nested.step.toLowerCase().includes(word);
    const isText = typeof nested.value === "string" && nested.value.toLowerCase().includes(word);
    if (isKey || isText) yield [...place, index];
    if (!nested.isLeaf) yield* having(nested, [...place, index], word);
  }
}

function* placesOf(root, text) {
  let steps = null;
  try {
    steps = parsePath(text.trim());
  } catch {
    // It is no path, and so it is words.
  }
  let isFound = false;
  if (steps) {
    const isNumbered = root.kind !== "message" && typeof steps[0] === "number";
    for (const found of messages(root, [], isNumbered ? steps[0] : null)) {
      if (!found) {
        yield null;
        continue;
      }
      for (const place of follow(found.part, found.place, steps, isNumbered ? 1 : 0)) {
        isFound = isFound || place !== null;
        yield place;
      }
    }
  }
  if (isFound || (steps && steps.length !== 1) || text.trim() === "") return;
  for (const found of messages(root, [], null)) {
    if (found) yield* having(found.part, found.place, text.trim().toLowerCase());
    else yield null;
  }
}

/** A generator of work, which adds the places it finds to a list. */
export function* search(root, text, found) {
  for (const place of placesOf(root, text)) {
    if (place) found.push(place);
    if (found.length === MOST) return true;
    yield found.length;
  }
  return false;
}
