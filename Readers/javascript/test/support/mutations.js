// Bytes that are not far from valid ones, the same for the same seed.

import { checksum } from "./checksum.js";

const INTERESTING = [0x00, 0x01, 0x02, 0x7F, 0x80, 0x81, 0xBF, 0xC0, 0xDF, 0xE0, 0xE1, 0xF7, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF];
/** A longer message is mutated as much less often as it is longer. */
const ORDINARY_SIZE = 256;

/** Numbers that look random: a xorshift of 32 bits. */
export class Chance {
  constructor(seed) { this.state = (Math.imul(seed + 1, 0x9E3779B1) | 1) >>> 0; }

  next() {
    let state = this.state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (this.state = state >>> 0);
  }

  below(limit) { return limit < 1 ? 0 : this.next() % limit; }
  of(choices) { return choices[this.below(choices.length)]; }
}

export class Mutator {
  constructor(messages, seed) {
    this.chance = new Chance(seed);
    // One place for each message, and more for short ones.
    this.messages = messages.flatMap((bytes) => {
      return Array(Math.max(1, Math.round((8 * ORDINARY_SIZE) / Math.max(bytes.length, ORDINARY_SIZE)))).fill(bytes);
    });
  }

  mutation() {
    let bytes = [...this.chance.of(this.messages)];
    for (let count = this.chance.of([1, 1, 1, 2, 3]); count > 0; count--) bytes = this.step(bytes);
    return Uint8Array.from(bytes);
  }

  step(bytes) {
    const { chance } = this;
    const start = chance.below(bytes.length + 1);
    const end = Math.min(bytes.length, start + 1 + chance.below(chance.of([1, 1, 1, 2, 2, 3, 4, 8, bytes.length])));
    switch (chance.below(15)) {
      case 0: case 1: return replaced(bytes, start, start + 1, [this.byte()]);
      case 2: case 3: return replaced(bytes, start, start + 1, [this.changed(bytes[start] ?? 0)]);
      case 4: return replaced(bytes, start, start, this.some());
      case 5: return replaced(bytes, start, end, []);
      case 6: return replaced(bytes, end, end, bytes.slice(start, end));
      case 7: return this.moved(bytes, start, end);
      case 8: return this.spliced(bytes, start);
      case 9: return bytes.slice(0, start);
      case 10: return bytes.concat(this.some());
      case 11: return this.inLengths(bytes, start, start, this.some());
      case 12: return this.inLengths(bytes, start, start, [...chance.of(this.messages)]);
      case 13: return this.inLengths(bytes, end, end, bytes.slice(start, end));
      default: return this.inLengths(bytes, start, end, chance.below(2) ? [] : this.some());
    }
  }

  byte() { return this.chance.below(2) ? this.chance.of(INTERESTING) : this.chance.below(256); }

  changed(byte) { return this.chance.of([byte + 1, byte - 1, byte ^ (1 << this.chance.below(8))]) & 0xFF; }

  some() { return Array.from({ length: this.chance.of([1, 1, 1, 2, 3, 8]) }, () => this.byte()); }

  moved(bytes, start, end) {
    const rest = replaced(bytes, start, end, []);
    const place = this.chance.below(rest.length + 1);
    return replaced(rest, place, place, bytes.slice(start, end));
  }

  spliced(bytes, start) {
    const other = [...this.chance.of(this.messages)];
    return bytes.slice(0, start).concat(other.slice(this.chance.below(other.length + 1)));
  }

  /** Puts bytes in place of others, and mends what may be the lengths around them. */
  inLengths(bytes, start, end, other) {
    const result = replaced(bytes, start, end, other);
    const places = this.chance.below(2)
      ? outerLengths(bytes, start) : [this.chance.below(start), this.chance.below(start)].slice(0, start);
    for (const place of places) result[place] = (result[place] + other.length - (end - start)) & 0xFF;
    return result;
  }
}

function replaced(bytes, start, end, other) { return [...bytes.slice(0, start), ...other, ...bytes.slice(end)]; }

/** The bytes before a place that may be lengths, or tags with a length in their low bits, of all that follows. */
function outerLengths(bytes, place) {
  const lengths = [];
  for (let index = Math.max(0, bytes.length - ORDINARY_SIZE); index < place; index++) {
    const rest = bytes.length - index - 1;
    if ([bytes[index], bytes[index] & 0x1F, bytes[index] & 0x0F].includes(rest)) lengths.push(index);
  }
  return lengths;
}

const BLOCK_SIZE = 65536;

/** A log in which something was changed, cut off, set to zero, added or moved, in a step or two. */
export function mutatedLog(original, chance) {
  let bytes = original;
  for (let count = chance.of([1, 1, 2]); count > 0; count--) bytes = logStep(bytes, chance);
  return bytes;
}

function logStep(bytes, chance) {
  if (bytes.length === 0) return bytes;
  const place = logPlace(bytes, chance);
  switch (chance.below(7)) {
    case 0: case 1: {
      const changed = bytes.slice();
      changed[place] ^= 1 << chance.below(8);
      return changed;
    }
    case 2: return bytes.slice(0, place);
    case 3: return bytes.slice().fill(0, place, place + chance.of([4, 40, 512, 4096, BLOCK_SIZE]));
    case 4: return longer(bytes, Array.from({ length: chance.of([1, 7, 40, 600]) }, () => chance.below(256)));
    case 5: return longer(bytes, new Uint8Array(chance.of([1, 31, 32, 600, BLOCK_SIZE])));
    default: return movedBlock(bytes, chance);
  }
}

/** Mostly near the beginning or the end of a block, where the heads and frames are. */
function logPlace(bytes, chance) {
  const block = chance.below(Math.floor(bytes.length / BLOCK_SIZE) + 1) * BLOCK_SIZE;
  const place = chance.of([
    block + chance.below(100), block - chance.below(20), bytes.length - chance.below(200), chance.below(bytes.length + 1),
  ]);
  return Math.min(Math.max(place, 0), bytes.length - 1);
}

function longer(bytes, more) {
  const result = new Uint8Array(bytes.length + more.length);
  result.set(bytes);
  result.set(more, bytes.length);
  return result;
}

function movedBlock(bytes, chance) {
  const count = Math.floor(bytes.length / BLOCK_SIZE) + 1;
  const source = chance.below(count) * BLOCK_SIZE, target = chance.below(count) * BLOCK_SIZE;
  const block = bytes.slice(source, source + BLOCK_SIZE);
  const result = new Uint8Array(Math.max(bytes.length, target + block.length));
  result.set(bytes);
  result.set(block, target);
  return result;
}

// Logs whose checksums are right, and whose heads and frames say something else. The numbers in heads and in first parts
// stay: where those of one block contradict those of the next, the library finds fewer records than FORMAT.md has.

const HEAD_SIZE = 32, FRAME_HEAD_SIZE = 7, FIRST_PART = 2;

/** A log in which some heads and frames were changed, and have the checksums of what they became. */
export function changedLog(original, chance) {
  const bytes = original.slice();
  for (let count = chance.of([1, 1, 2, 3]); count > 0; count--) {
    const start = chance.below(Math.ceil(bytes.length / BLOCK_SIZE)) * BLOCK_SIZE;
    if (chance.below(4) === 0) changeHead(bytes, start, chance);
    else changeFrame(bytes, start, chance);
  }
  return bytes;
}

function changeHead(bytes, start, chance) {
  if (start + HEAD_SIZE > bytes.length) return;
  const place = chance.of([2, 3, 8, 15, 24, 28, 28]);
  bytes[start + place] = chance.of([bytes[start + place] + 1, bytes[start + place] - 1, chance.below(256), 0x40, 0]);
  const rest = [...bytes.subarray(start, start + 4), ...bytes.subarray(start + 8, start + HEAD_SIZE)];
  new DataView(bytes.buffer).setUint32(start + 4, checksum(rest), true);
}

function changeFrame(bytes, start, chance) {
  const frames = framesOf(bytes, start);
  if (frames.length === 0) return;
  let at = chance.of(frames);
  const size = bytes[at + 4] | (bytes[at + 5] << 8);
  switch (chance.below(5)) {
    case 0: bytes[at + 6] = chance.below(12); break;
    case 1: bytes[at + 6] = chance.of([1, 5, 7, 8, 9, 10]); break;
    case 2:
      if (bytes[at + 6] === FIRST_PART) return;
      bytes[at + FRAME_HEAD_SIZE + chance.below(Math.min(size, 3))] += chance.of([1, 2, -1, chance.below(256)]);
      break;
    case 3: setLength(bytes, at, Math.max(1, size - chance.of([1, 1, 2, size - 1]))); break;
    default: {
      // The frame once more, in another place.
      const frame = bytes.slice(at, at + FRAME_HEAD_SIZE + size);
      at = chance.of([...frames, start + HEAD_SIZE, start + chance.below(BLOCK_SIZE)]);
      if (at + frame.length > Math.min(bytes.length, start + BLOCK_SIZE)) return;
      bytes.set(frame, at);
    }
  }
  seal(bytes, at);
}

/** Where the frames of a block begin. */
function framesOf(bytes, start) {
  const frames = [];
  let at = start + HEAD_SIZE;
  while (at + FRAME_HEAD_SIZE < Math.min(bytes.length, start + BLOCK_SIZE)) {
    const end = at + FRAME_HEAD_SIZE + (bytes[at + 4] | (bytes[at + 5] << 8));
    if (end === at + FRAME_HEAD_SIZE || end > Math.min(bytes.length, start + BLOCK_SIZE)) break;
    frames.push(at);
    at = end;
  }
  return frames;
}

function setLength(bytes, at, length) {
  bytes[at + 4] = length & 0xFF;
  bytes[at + 5] = length >> 8;
}

/** Gives a frame the checksum of what it says. */
function seal(bytes, at) {
  const end = at + FRAME_HEAD_SIZE + (bytes[at + 4] | (bytes[at + 5] << 8));
  const offset = new DataView(new ArrayBuffer(8));
  offset.setBigUint64(0, BigInt(at), true);
  const sealed = [...bytes.subarray(8, 16), ...new Uint8Array(offset.buffer), ...bytes.subarray(at + 4, end)];
  new DataView(bytes.buffer).setUint32(at, checksum(sealed), true);
}
