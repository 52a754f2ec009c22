/**
 * A reader and canonical writer of the Stow format, version 1 (FORMAT.md), for Node, Deno, Bun and browsers.
 *
 * The order is that of FORMAT.md: values, numbers, texts, the prelude, containers, packed arrays, tables, then what a
 * writer chooses, contexts, logs and streams; in the end paths, and the walk over all bytes.
 */

// # Errors

/** The one error of this module: the bytes are not valid, or a value cannot be written. */
export class StowError extends Error {
  name = "StowError";

  /**
   * @param {string} rule what is wrong, in English
   * @param {number} [offset] where in the bytes that were given; -1 where no byte is to blame
   */
  constructor(rule, offset = -1) {
    super(offset < 0 ? rule : `${rule}, at byte ${offset}`);
    this.rule = rule;
    this.offset = offset;
  }
}

const LATER = "perhaps the message is of a later version";

// # Values
//
// Bools, strings and arrays are those of JavaScript, nil is null, data is a Uint8Array. What JavaScript has no exact
// value for has a small class.

/** A nil inside so many optionals that have a value; `null` is the nil of level 0. */
export class NestedNil {
  constructor(level) {
    if (!Number.isInteger(level) || level < 1 || level > 255) throw new StowError("a level of nil is 1 to 255");
    this.level = level;
    Object.freeze(this);
  }
}

/**
 * A float that a plain number would not say: one whose value is a safe integer, which as a number is taken for an
 * integer, or a NaN with its bits.
 */
export class Float {
  /** @param {number} value */
  constructor(value) {
    this.value = +value;
    /** The bits of a NaN; null for any other float. */
    this.bits = this.value !== this.value ? QUIET_NAN : null;
    /** 4 for the NaN of a `Float`, otherwise 8. */
    this.size = 8;
  }

  /** The NaN of these bits, or another float of 8 bytes. */
  static fromBits(bits, size = 8) {
    const float = new Float(NaN);
    scratch.setBigUint64(0, BigInt.asUintN(64, bits), true);
    float.value = size === 4 ? scratch.getFloat32(0, true) : scratch.getFloat64(0, true);
    float.bits = float.value !== float.value ? BigInt.asUintN(size * 8, bits) : null;
    float.size = float.bits === null ? 8 : size;
    return float;
  }

  valueOf() { return this.value; }
  toJSON() { return this.value; }
}

/** A date that a `Date`, which counts whole milliseconds, does not hold exactly. As a `Date` it is rounded. */
export class StowDate extends Date {
  /** @param {number} seconds since 2001-01-01 00:00:00 UTC */
  constructor(seconds, bits = null) {
    super(timeOf(seconds));
    this.seconds = seconds;
    /** The bits of seconds that are NaN; otherwise null. */
    this.bits = seconds === seconds ? null : bits ?? QUIET_NAN;
  }
}

/** A UUID: its 16 bytes; as text, its digits in upper case. */
export class UUID {
  /** @param {Uint8Array | string} source */
  constructor(source) {
    const digits = typeof source === "string" ? source.replace(/-/g, "") : hex(source);
    if (!/^[0-9A-Fa-f]{32}$/.test(digits)) throw new StowError("a UUID has 16 bytes");
    this.text = digits.toUpperCase().replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
    Object.freeze(this);
  }

  get bytes() { return Uint8Array.from(this.text.replace(/-/g, "").match(/../g), (digits) => parseInt(digits, 16)); }
  toString() { return this.text; }
  toJSON() { return this.text; }
}

/** A URL as it is written; whether it is one is not checked. */
export class StowURL {
  constructor(href) {
    this.href = String(href);
    Object.freeze(this);
  }

  toString() { return this.href; }
  toJSON() { return this.href; }
}

/** A decimal number: significand · 10 to the exponent; not a number if the significand is null. */
export class Decimal {
  /**
   * @param {bigint | number | null} significand
   * @param {number} [exponent] −128 to 127
   */
  constructor(significand, exponent = 0) {
    if (typeof significand === "number" && !Number.isInteger(significand)) {
      throw new StowError("the significand of a decimal number is an integer");
    }
    this.significand = significand === null ? null : BigInt(significand);
    this.exponent = significand === null ? 0 : exponent;
    if (!Number.isInteger(this.exponent) || this.exponent < -128 || this.exponent > 127) {
      throw new StowError("the exponent of a decimal number is −128 to 127");
    }
    if (this.significand !== null && magnitude(this.significand) >= 1n << 128n) {
      throw new StowError("the significand of a decimal number has at most 16 bytes");
    }
    Object.freeze(this);
  }

  /** The digits; with an exponent where zeros would have to be made up, or many. */
  toString() {
    if (this.significand === null) return "NaN";
    const sign = this.significand < 0n ? "-" : "";
    const digits = magnitude(this.significand).toString();
    if (this.exponent === 0) return sign + digits;
    if (this.exponent > 0 || this.exponent < -20) return `${sign}${digits}e${this.exponent}`;
    const padded = digits.padStart(1 - this.exponent, "0");
    return `${sign}${padded.slice(0, this.exponent)}.${padded.slice(this.exponent)}`;
  }

  toJSON() { return this.toString(); }
}

const QUIET_NAN = 0x7FF8000000000000n;
/** The milliseconds from 1970, where those of a Date begin, to 2001, where the format's seconds do. */
const EPOCH = 978307200000;
const scratch = new DataView(new ArrayBuffer(8));

function magnitude(number) { return number < 0n ? -number : number; }

function hex(bytes) {
  let text = "";
  for (const byte of bytes) text += (byte < 16 ? "0" : "") + byte.toString(16);
  return text;
}

/** The nearest milliseconds since 1970. 1000 times all seconds would be a rounded product: one off, in years far away. */
function timeOf(seconds) {
  const whole = Math.floor(seconds);
  return whole * 1000 + Math.round((seconds - whole) * 1000) + EPOCH;
}

/** A Date of so many seconds since 2001 if there is one, otherwise a StowDate. */
function dateOf(seconds, bits) {
  const time = timeOf(seconds);
  if (Math.abs(time) <= 8.64e15 && Object.is((time - EPOCH) / 1000, seconds)) return new Date(time);
  return new StowDate(seconds, bits);
}

// # Integers

const SAFE = Number.MAX_SAFE_INTEGER;

/** A number if it is safe, otherwise the bigint. */
function narrowed(integer) {
  return integer >= -9007199254740991n && integer <= 9007199254740991n ? Number(integer) : integer;
}

/** The integer of two halves, of which the lower is not negative. */
function joined(high, low) {
  const sum = high * 4294967296 + low;
  return sum >= -SAFE && sum <= SAFE ? sum : BigInt(high) * 4294967296n + BigInt(low);
}

/** A sum or difference as a signed integer of 64 bits, modulo 2⁶⁴. */
function sum64(left, right) {
  if (typeof left === "number" && typeof right === "number") {
    const sum = left + right;
    if (sum >= -SAFE && sum <= SAFE) return sum;
  }
  return narrowed(BigInt.asIntN(64, BigInt(left) + BigInt(right)));
}

/** The signed integer of `width` bytes, 0 to 8, at `at`. */
function signed(bytes, at, width) {
  switch (width) {
    case 0: return 0;
    case 1: return (bytes[at] << 24) >> 24;
    case 2: return ((bytes[at] | (bytes[at + 1] << 8)) << 16) >> 16;
    case 3: return ((bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16)) << 8) >> 8;
    case 4: return bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
    case 5: case 6: return signed(bytes, at + 4, width - 4) * 4294967296 + unsigned(bytes, at, 4);
    default: return joined(signed(bytes, at + 4, width - 4), unsigned(bytes, at, 4));
  }
}

/** The integer without a sign of `width` bytes, 1 to 8, at `at`. */
function unsigned(bytes, at, width) {
  switch (width) {
    case 1: return bytes[at];
    case 2: return bytes[at] | (bytes[at + 1] << 8);
    case 3: return bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16);
    case 4: return (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0;
    default: return joined(unsigned(bytes, at + 4, width - 4), unsigned(bytes, at, 4));
  }
}

/** The integer without a sign of any number of bytes. */
function wide(bytes, at, width) {
  let result = 0n;
  for (let index = width - 1; index >= 0; index--) result = (result << 8n) | BigInt(bytes[at + index]);
  return result;
}

// # Floating point

const POWERS = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

/** The float that is `residue` representable numbers away. */
function moved(value, residue) {
  scratch.setFloat64(0, value, true);
  const low = scratch.getUint32(0, true) + residue;
  const carry = low < 0 ? -1 : low > 0xFFFFFFFF ? 1 : 0;
  scratch.setUint32(0, low, true);
  scratch.setUint32(4, scratch.getUint32(4, true) + carry, true);
  return scratch.getFloat64(0, true);
}

/** The bits of what was moved, which a NaN as a number need not keep. */
function movedBits(value, residue) {
  scratch.setFloat64(0, value, true);
  return BigInt.asUintN(64, scratch.getBigUint64(0, true) + BigInt(residue));
}

// # Texts

const SIX_BITS = codesOf("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
const FIVE_BITS = codesOf("abcdefghijklmnopqrstuvwxyz_-.$");
const UPPER_SHIFT = 30, DIGIT_SHIFT = 31;
const LONGEST_PACKED = 63;

/** For each ASCII character the code of 6 bits, −1 if it has none. */
const SIX_BIT_CODES = inverse(SIX_BITS);
const FIVE_BIT_CODES = inverse(FIVE_BITS);
/** For each ASCII character how many units of 5 bits it takes; 64, which is too many, if it has none. */
const FIVE_BIT_UNITS = FIVE_BIT_CODES.map((code, byte) => (code >= 0 ? 1 : SIX_BIT_CODES[byte] >= 0 ? 2 : 64));

function codesOf(characters) { return Uint8Array.from(characters, (character) => character.charCodeAt(0)); }

function inverse(characters) {
  const codes = new Int8Array(256).fill(-1);
  characters.forEach((byte, code) => { codes[byte] = code; });
  return codes;
}

const PLAIN = 0, SIX = 1, FIVE = 2;

/** The form of the fewest bytes for a string in UTF-8: plain, 6-bit, 5-bit where they are equal. */
function textForm(bytes, start, end) {
  const size = end - start;
  if (size === 0 || size > LONGEST_PACKED) return PLAIN;
  let isSix = true, units = 0;
  for (let at = start; at < end; at++) {
    if (SIX_BIT_CODES[bytes[at]] < 0) isSix = false;
    units += FIVE_BIT_UNITS[bytes[at]];
  }
  const six = isSix ? packedSize(size, 6) : size;
  const isFive = units <= LONGEST_PACKED && packedSize(units, 5) < six;
  return isFive ? FIVE : six < size ? SIX : PLAIN;
}

function packedSize(count, bits) { return (count * bits + 7) >> 3; }

/** How many units of 5 bits an ASCII string takes. */
function fiveBitUnits(bytes, start, end) {
  let units = 0;
  for (let at = start; at < end; at++) units += FIVE_BIT_UNITS[bytes[at]];
  return units;
}

// # Strings

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
/** The host's own conversions of bytes to strings, where it has them, as Node and Bun have. */
const HostBuffer = isLittleEndian && globalThis.Buffer?.prototype?.latin1Slice && globalThis.Buffer.prototype.ucs2Slice
  ? globalThis.Buffer : null;
const asciiDecoder = HostBuffer ? null : new TextDecoder("latin1");
const utf8Decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** As many bytes are made a string at once, of which short strings are cut. */
const CHUNK = 8192;
/** Up to so many bytes, strings are made here: calling the host takes longer. */
const SHORT_STRING = 512;
const units = new Uint16Array(SHORT_STRING);
const hostUnits = HostBuffer && HostBuffer.from(units.buffer);
/** The codes of a packed text, and then its characters. */
const codes = new Uint8Array(64);
const hostCodes = HostBuffer && HostBuffer.from(codes.buffer);

/** The string of the first of `units`. */
function unitsText(count) {
  return hostUnits ? hostUnits.ucs2Slice(0, count * 2) : String.fromCharCode.apply(null, units.subarray(0, count));
}

/** The string of the first of `codes`, which are ASCII. */
function codesText(count) {
  return hostCodes ? hostCodes.latin1Slice(0, count) : String.fromCharCode.apply(null, codes.subarray(0, count));
}

/** Decodes UTF-8 to `units`, and returns how many there are; −1 if it is not valid. */
function decodeUTF8(bytes, at, end) {
  let count = 0;
  while (at < end) {
    const first = bytes[at++];
    if (first < 0x80) {
      units[count++] = first;
    } else if (first < 0xE0) {
      if (first < 0xC2 || at >= end) return -1;
      const second = bytes[at++] ^ 0x80;
      if (second > 0x3F) return -1;
      units[count++] = ((first & 0x1F) << 6) | second;
    } else if (first < 0xF0) {
      if (at + 1 >= end) return -1;
      const second = bytes[at++] ^ 0x80, third = bytes[at++] ^ 0x80;
      const unit = ((first & 0x0F) << 12) | (second << 6) | third;
      if ((second | third) > 0x3F || unit < 0x800 || (unit & 0xF800) === 0xD800) return -1;
      units[count++] = unit;
    } else {
      if (at + 2 >= end) return -1;
      const second = bytes[at++] ^ 0x80, third = bytes[at++] ^ 0x80, fourth = bytes[at++] ^ 0x80;
      const scalar = ((first & 0x0F) << 18) | (second << 12) | (third << 6) | fourth;
      if ((second | third | fourth) > 0x3F || scalar < 0x10000 || scalar > 0x10FFFF) return -1;
      units[count++] = 0xD7C0 + (scalar >> 10);
      units[count++] = 0xDC00 | (scalar & 0x3FF);
    }
  }
  return count;
}

// # Options of a reader

/** So many arrays and objects may lie around each other, unless an option says otherwise. */
const DEPTH = 512;
/** More would be too many for the stack of some hosts. */
const DEEPEST = 2048;

function depthOf(options) {
  const depth = options.depth ?? DEPTH;
  if (!Number.isInteger(depth) || depth < 0 || depth > DEEPEST) {
    throw new StowError(`the option depth is an integer from 0 to ${DEEPEST}`);
  }
  return depth;
}

/** How many bytes an ArrayBuffer has; for all else it throws. */
const sizeOfBuffer = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, "byteLength").get;

/** Whether a value is an ArrayBuffer, be it that of another frame or context, which has classes of its own. */
function isArrayBuffer(value) {
  if (Object.prototype.toString.call(value) !== "[object ArrayBuffer]") return false;
  try {
    return sizeOfBuffer.call(value) >= 0;
  } catch {
    return false;
  }
}

const typedArray = Object.getPrototypeOf(Uint8Array.prototype);
/** The name of the class of a typed array, whichever frame or context it is from; undefined for all else. */
const typedArrayName = Object.getOwnPropertyDescriptor(typedArray, Symbol.toStringTag).get;

/** The bytes of whatever holds bytes; of memory that is shared with other threads or can be resized, a copy. */
function bytesOf(source) {
  const isBuffer = isArrayBuffer(source);
  if (!isBuffer && !ArrayBuffer.isView(source)) throw new StowError("bytes are a Uint8Array, an ArrayBuffer or a view of one");
  let bytes;
  try {
    // Where its memory has shrunk, a typed array has no bytes, and only what asks for its elements throws.
    if (typedArrayName.call(source) !== undefined) typedArray.values.call(source);
    bytes = isBuffer ? new Uint8Array(source) : new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  } catch (error) {
    if (error?.name !== "TypeError") throw error;
    throw new StowError("the memory of the bytes was transferred, or has shrunk");
  }
  return bytes.buffer instanceof ArrayBuffer && !bytes.buffer.resizable ? bytes : bytes.slice();
}

function makesMaps({ objects = "object" }) {
  if (objects !== "object" && objects !== "map") throw new StowError('the option objects is "object" or "map"');
  return objects === "map";
}

/** How many bytes a record may have. The other options are looked at here, too: a wrong one is no fault of a record. */
function recordSizeOf(options) {
  depthOf(options);
  makesMaps(options);
  const size = options.recordSize ?? RECORD_SIZE;
  if (!(size >= 0)) throw new StowError("the option recordSize is a number of bytes");
  return size;
}

// # Reading

const hasOwn = Object.prototype.hasOwnProperty;

/** The keys of a shape. */
class Shape {
  constructor(keys) {
    this.keys = keys;
    /** What makes objects that are to have these keys; null if some must not simply be assigned, and undefined at first. */
    this.Row = undefined;
  }

  constructorOfRows() {
    if (this.Row === undefined) this.findRow();
    return this.Row;
  }

  findRow() {
    const { Row, names } = rowsOf(this.keys);
    if (names.length === this.keys.length && names.every((name, index) => name === this.keys[index])) this.keys = names;
    this.Row = this.keys.some((key) => key in Object.prototype || isIndex(key)) ? null : Row;
  }
}

/** Constructors by the keys of what they make, so that the objects of all messages have the same hidden class. */
const knownRows = new Map();
const MOST_ROWS = 1000;
/** Keys that take more characters together are not remembered: they are the sender's, and would stay in memory. */
const LONGEST_ROW = 2000;

/** The constructor for some keys, and the keys as the strings that the engine knows as names of properties. */
function rowsOf(keys) {
  // A reference to a symbol takes a byte, however long the symbol is: long keys are not put together.
  if (keys.reduce((sum, key) => sum + key.length + 1, -1) > LONGEST_ROW) return newRows(keys);
  const joined = keys.join();
  let known = knownRows.get(joined);
  if (known === undefined) {
    known = newRows(keys);
    if (knownRows.size === MOST_ROWS) knownRows.clear();
    knownRows.set(joined, known);
  }
  return known;
}

function newRows(keys) {
  return { Row: keys.length <= 8 ? smallConstructor() : largeConstructor(), names: namesOf(keys) };
}

function namesOf(keys) {
  const object = Object.create(null);
  for (const key of keys) define(object, key, 0);
  return Object.keys(object);
}

// What these make are plain objects without properties. That each shape has a constructor of its own, and how many
// assignments stand in it, though none is ever run, tells the engine how much room its objects need.

const NEVER = false;

function smallConstructor() {
  function Row() {
    if (NEVER) this.a = this.b = this.c = this.d = this.e = this.f = this.g = this.h = 0;
  }
  Row.prototype = Object.prototype;
  return Row;
}

function largeConstructor() {
  function Row() {
    if (NEVER) {
      this.a = this.b = this.c = this.d = this.e = this.f = this.g = this.h = this.i = this.j = 0;
      this.k = this.l = this.m = this.n = this.o = this.p = this.q = this.r = this.s = this.t = 0;
      this.u = this.v = this.w = this.x = this.y = this.z = this.A = this.B = this.C = this.D = 0;
      this.E = this.F = this.G = this.H = this.I = this.J = this.K = this.L = this.M = this.N = 0;
    }
  }
  Row.prototype = Object.prototype;
  return Row;
}

/** Sets a property of the object itself, whatever all objects inherit. */
function define(object, key, value) {
  if (!(key in object || (isIndex(key) && !(key - 1 in object)))) {
    object[key] = value;
    return;
  }
  // An index that is alone makes an array of so many elements, unless it is at first not like other properties.
  Object.defineProperty(object, key, { __proto__: null, value, configurable: true });
  Object.defineProperty(object, key, { __proto__: null, writable: true, enumerable: true });
}

/** Whether a key is an index of 10 to 9999. Engines make no array for a higher one that is alone. */
function isIndex(key) { return key.length < 5 && key > 9; }

/** What stands before the rows of a table or matrix. As no rows stand inside others, one at a time is enough. */
class RowLayout {
  /** Where the types of the columns stand, how many there are, and where the rows begin. */
  types = 0;
  count = 0;
  start = 0;
  /** The bytes of a row, and how many rows there are. */
  stride = 0;
  rows = 0;
  /** For each column its base; of a constant one where its constant stands, and its value. */
  bases = [];
  constants = [];
}

/** V8 ends the process where it cannot lengthen an array by half. */
const MOST_ELEMENTS = 89000000;
const TOO_MANY = "too many for an array of JavaScript";

/** Reads forward over a message. `end` is that of the innermost container, beyond which nothing is read. */
class Reader {
  constructor(bytes, options = {}) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.host = HostBuffer && HostBuffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
    this.end = bytes.length;
    this.symbols = [];
    this.shapes = [];
    this.depth = 0;
    this.deepest = depthOf(options);
    this.isExact = options.exact === true;
    this.makesMaps = makesMaps(options);
    /** In a context, uints are in the shortest form, and a key that is a symbol is a reference. */
    this.isStrict = false;
    this.known = null;
    this.text = "";
    this.textStart = 0;
    this.textEnd = 0;
    this.rowLayout = new RowLayout();
  }

  fail(rule, offset = this.at) { throw new StowError(rule, offset); }

  /** A number of elements, for which an array has room. */
  fitting(count) { return count <= MOST_ELEMENTS ? count : this.fail(`${count} elements are ${TOO_MANY}`); }

  /** Steps over so many bytes, and returns where they begin. */
  take(count) {
    const start = this.at;
    if (count > this.end - start) this.fail(`${count} bytes are wanted where ${this.end - start} are left`);
    this.at = start + count;
    return start;
  }

  byte() {
    if (this.at >= this.end) this.fail("a byte is wanted where none is left");
    return this.bytes[this.at++];
  }

  // ## Uints

  uint() {
    const first = this.byte();
    return first <= 0xDF ? first : this.longUint(first);
  }

  longUint(first) {
    const start = this.at - 1;
    let number;
    if (first <= 0xF7) number = 224 + ((first - 0xE0) << 8) + this.byte();
    else if (first <= 0xFB) number = 6368 + ((first - 0xF8) << 16) + unsigned(this.bytes, this.take(2), 2);
    else if (first === 0xFC) number = unsigned(this.bytes, this.take(4), 4);
    else if (first === 0xFD) number = Number(unsigned(this.bytes, this.take(8), 8));
    else this.fail(`the length or number begins with a reserved byte; ${LATER}`, start);
    if (first === 0xFD && this.bytes[this.at - 1] > 0x7F) this.fail("a length or number is 2⁶³ or more", start);
    if (this.isStrict && this.at - start > uintSize(number)) this.fail("a uint is longer than need be", start);
    return number;
  }

  /** A uint as a bigint, which holds all of them. */
  bigUint() {
    const start = this.at;
    const number = this.uint();
    return this.bytes[start] === 0xFD ? wide(this.bytes, start + 1, 8) : BigInt(number);
  }

  // ## Messages

  /** The value after the prelude, up to the end of the bytes. */
  whole() {
    const value = this.value();
    if (this.at < this.end) this.fail("there is something after the value");
    return value;
  }

  /** Steps over what a message begins with if it names a context, and takes that, or the one that is settled. */
  context(contexts, settled) {
    let context = settled;
    if (this.bytes.length > 1 && this.bytes[0] === 0x7F) {
      if (this.bytes[1] !== 0x01) this.fail(otherKind(this.bytes[1]), 0);
      this.at = 2;
      const id = unsigned(this.bytes, this.take(4), 4);
      const held = [...contexts, ...(settled ? [settled] : [])].filter((each) => each.id === id);
      if (held.length === 0) this.fail(`the message relies on the context ${idText(id)}, which is not there`, 0);
      context = held[0];
      // What they hold is compared only where there are several: it may be far more than the message has.
      if (held.some((each) => each !== context && hex(each.message) !== hex(context.message))) {
        this.fail(`there are two contexts of the id ${idText(id)}`, 0);
      }
    }
    if (context) [this.symbols, this.shapes] = [context.symbols, context.shapes];
  }

  // ## Values

  value() {
    if (this.at >= this.end) this.fail("a value is wanted where no byte is left");
    const tag = this.bytes[this.at++];
    if (tag >= 0x80) {
      if (tag < 0xC0) return tag - 0x90;
      if (tag < 0xE0) return this.map(tag - 0xC0);
      if (tag < 0xF0) return this.array(tag - 0xE0);
      return tag < 0xF8 ? this.record(tag - 0xF0) : this.partial(tag - 0xF8);
    }
    if (tag >= 0x30 && tag < 0x70) return tag < 0x50 ? this.string(tag - 0x30) : this.symbol(tag - 0x50);
    if (tag < 0x03) return tag === 0x00 ? null : tag === 0x02;
    return this.other(tag);
  }

  other(tag) {
    if (tag >= 0x20 && tag < 0x30) {
      return this.decimalFloat(((tag - 0x20) >> 2) + 1, ((tag - 0x20) & 3) + 1);
    }
    switch (tag) {
      case 0x03: case 0x04: case 0x05: case 0x06: case 0x07: case 0x08: case 0x09: case 0x0A:
        return signed(this.bytes, this.take(tag - 2), tag - 2);
      case 0x0B: return unsigned(this.bytes, this.take(8), 8);
      case 0x0C: return narrowed(BigInt.asIntN(128, wide(this.bytes, this.take(16), 16)));
      case 0x0D: return narrowed(wide(this.bytes, this.take(16), 16));
      case 0x0E: return this.double(this.take(8));
      case 0x0F: return this.single(this.take(4));
      case 0x10: case 0x11: case 0x12: case 0x13:
        return this.float(signed(this.bytes, this.take(tag - 0x0F), tag - 0x0F));
      case 0x14: return this.float(this.scaled());
      case 0x15: return this.noisy(this.scaled(), this.byte());
      case 0x16: return this.date(this.take(8));
      case 0x17: return dateOf(this.scaled());
      case 0x18: return new UUID(this.bytes.subarray(this.take(16), this.at));
      case 0x19: return this.bytes.slice(this.take(this.uint()), this.at);
      case 0x1A: return new StowURL(this.stringValue());
      case 0x1B: case 0x1C: return this.decimal(tag === 0x1C);
      case 0x1D: return this.string(this.uint());
      case 0x1E: return this.symbol(this.uint());
      case 0x70: return this.array(this.uint());
      case 0x71: return this.map(this.uint());
      case 0x72: return this.record(this.uint());
      case 0x73: return this.partial(this.uint());
      case 0x74: return this.packed();
      case 0x75: return this.packedSingles();
      case 0x7A: return this.table();
      case 0x7B: return this.matrix();
      case 0x7C: return this.nestedNil();
      default: return this.reserved(tag);
    }
  }

  reserved(tag) {
    const start = this.at - 1;
    if (tag === 0x1F) this.fail("a prelude stands where a value is wanted", start);
    if (tag === 0x7F && start === 0 && this.bytes.length > 1) this.fail(otherKind(this.bytes[1]), 0);
    this.fail(`the tag ${byteText(tag)} is reserved; ${LATER}`, start);
  }

  nestedNil() {
    const level = this.byte();
    return level === 0 ? null : new NestedNil(level);
  }

  // ## Floats

  /** A float that is no NaN. */
  float(value) {
    return this.isExact && Number.isSafeInteger(value) && !Object.is(value, -0) ? new Float(value) : value;
  }

  double(at) {
    const value = this.view.getFloat64(at, true);
    if (!this.isExact) return value;
    return value === value ? this.float(value) : Float.fromBits(this.view.getBigUint64(at, true));
  }

  single(at) {
    const value = this.view.getFloat32(at, true);
    if (!this.isExact) return value;
    return value === value ? this.float(value) : Float.fromBits(BigInt(this.view.getUint32(at, true)), 4);
  }

  decimalFloat(exponent, width) {
    return this.float(signed(this.bytes, this.take(width), width) / POWERS[exponent]);
  }

  /** What a scale byte says of the integer after it. */
  scaled() {
    const scale = this.byte();
    const exponent = scale >> 4, width = scale & 0x0F;
    if (exponent > 9) this.fail("an exponent is above 9", this.at - 1);
    if (width < 1 || width > 6) this.fail("the width of a scale byte is not 1 to 6", this.at - 1);
    return signed(this.bytes, this.take(width), width) / POWERS[exponent];
  }

  noisy(value, byte) {
    const residue = (byte << 24) >> 24;
    const result = moved(value, residue);
    if (!this.isExact || result === result) return this.float(result);
    return Float.fromBits(movedBits(value, residue));
  }

  // ## Dates and decimal numbers

  date(at) {
    const seconds = this.view.getFloat64(at, true);
    return dateOf(seconds, seconds === seconds ? null : this.view.getBigUint64(at, true));
  }

  decimal(isNegative) {
    const start = this.at - 1;
    const length = this.uint();
    if (length < 1 || length > 17) this.fail("the length of a decimal number is not 1 to 17", start);
    const at = this.take(length);
    const exponent = signed(this.bytes, at, 1);
    const significand = wide(this.bytes, at + 1, length - 1);
    if (!isNegative) return new Decimal(significand, exponent);
    if (significand !== 0n) return new Decimal(-significand, exponent);
    if (exponent !== 0) this.fail("a negative zero, which is NaN, has an exponent", start);
    return new Decimal(null);
  }

  // ## Strings

  /** The string of so many bytes of UTF-8. */
  string(size) {
    const { bytes, at: start } = this;
    const end = start + size;
    if (size > SHORT_STRING) return this.longString(size);
    if (end > this.end) this.fail(`a string of ${size} bytes goes beyond its container`);
    this.at = end;
    let at = start;
    while (at < end && bytes[at] < 0x80) at++;
    return at === end ? this.ascii(start, end) : this.utf8(start, end);
  }

  /** Cuts a string out of a longer one, which many have in common: that takes less time than to make one. */
  ascii(start, end) {
    if (start < this.textStart || end > this.textEnd) this.loadText(start, end);
    return this.text.substring(start - this.textStart, end - this.textStart);
  }

  loadText(start, end) {
    this.textStart = start;
    this.textEnd = Math.max(end, Math.min(start + CHUNK, this.bytes.length));
    this.text = this.host
      ? this.host.latin1Slice(start, this.textEnd) : asciiDecoder.decode(this.bytes.subarray(start, this.textEnd));
  }

  utf8(start, end) {
    const count = decodeUTF8(this.bytes, start, end);
    if (count < 0) this.fail("a string is not UTF-8", start);
    return unitsText(count);
  }

  longString(size) {
    const start = this.take(size);
    try {
      return utf8Decoder.decode(this.bytes.subarray(start, this.at));
    } catch (error) {
      if (isNoRoom(error)) throw error;
      // By its name, as a decoder may be that of another context, which has classes of its own.
      const isBroken = error?.name === "TypeError";
      return this.fail(isBroken ? "a string is not UTF-8" : `a string of ${size} bytes is too long for JavaScript`, start);
    }
  }

  symbol(number) {
    if (number >= this.symbols.length) this.fail(`symbol ${number} does not exist`, this.at - 1);
    return this.symbols[number];
  }

  /** A string or a symbol, with its tag. */
  stringValue() {
    const tag = this.byte();
    if (tag >= 0x30 && tag < 0x70) return tag < 0x50 ? this.string(tag - 0x30) : this.symbol(tag - 0x50);
    if (tag === 0x1D) return this.string(this.uint());
    if (tag === 0x1E) return this.symbol(this.uint());
    return this.fail("the value of a URL is no string", this.at - 1);
  }

  // ## Texts

  /** A text, whose header was not read yet. */
  keyText() {
    const start = this.at;
    const header = this.byte();
    if (header >= 0x80 && header < 0xC0) return this.plainText(start, header - 0x80);
    if (header < 0x80 && (header & 0x3F) !== 0) {
      return header < 0x40 ? this.sixBitText(start, header) : this.fiveBitText(start, header - 0x40);
    }
    if (header === 0xE1) return this.longText(start);
    if (header >= 0xC0 && header <= 0xE0) this.fail("a reference stands where a text is wanted", start);
    return this.fail(`the header ${byteText(header)} of a text is reserved; ${LATER}`, start);
  }

  plainText(start, size) {
    const at = this.take(size);
    if (textForm(this.bytes, at, at + size) !== PLAIN) this.fail("a text is not in its shortest form", start);
    this.at = at;
    return this.string(size);
  }

  longText(start) {
    const at = this.at;
    const size = this.uint();
    if (size <= LONGEST_PACKED || this.at - at > uintSize(size)) {
      this.fail("the length of a text is longer than need be", start);
    }
    return this.string(size);
  }

  sixBitText(start, count) {
    this.readCodes(count, 6);
    for (let index = 0; index < count; index++) codes[index] = SIX_BITS[codes[index]];
    return this.packedText(start, count, SIX);
  }

  fiveBitText(start, count) {
    this.readCodes(count, 5);
    let size = 0;
    for (let index = 0; index < count; index++) {
      const unit = codes[index];
      let byte = FIVE_BITS[unit];
      if (unit >= UPPER_SHIFT) {
        const next = ++index < count ? codes[index] : 64;
        if (next >= (unit === UPPER_SHIFT ? 26 : 10)) this.fail("a shift stands without its character", start);
        byte = (unit === UPPER_SHIFT ? 0x41 : 0x30) + next;
      }
      codes[size++] = byte;
    }
    return this.packedText(start, size, FIVE);
  }

  packedText(start, size, form) {
    if (textForm(codes, 0, size) !== form) this.fail("a text is not in its shortest form", start);
    return codesText(size);
  }

  /** Reads so many codes of so many bits to `codes`, from the least significant bit of the first byte on. */
  readCodes(count, bits) {
    const size = packedSize(count, bits);
    const start = this.take(size);
    let rest = 0, held = 0, at = start;
    for (let index = 0; index < count; index++) {
      if (held < bits) {
        rest |= this.bytes[at++] << held;
        held += 8;
      }
      codes[index] = rest & ((1 << bits) - 1);
      rest >>= bits;
      held -= bits;
    }
    if (rest !== 0) this.fail("bits that are left over in a text are not zero", start);
  }

  // ## Prelude

  /** Takes in the prelude that may stand here: it adds to the symbols and shapes that are there. */
  prelude() {
    if (this.at >= this.end || this.bytes[this.at] !== 0x1F) return;
    this.at++;
    [this.symbols, this.shapes] = [this.symbols.slice(), this.shapes.slice()];
    this.readSymbols(this.symbols);
    this.readShapes(this.shapes);
  }

  readSymbols(symbols) { for (let count = this.fitting(this.uint()); count > 0; count--) symbols.push(this.symbolText()); }

  /** A symbol. A long one is a name of properties: two of them are compared as one step, and not byte by byte, however often. */
  symbolText() {
    const text = this.keyText();
    return text.length > LONGEST_PACKED ? namesOf([text])[0] : text;
  }

  readShapes(shapes) { for (let count = this.fitting(this.uint()); count > 0; count--) shapes.push(this.shape()); }

  shape() {
    const start = this.at;
    const count = this.uint();
    if (count === 0) this.fail("a shape has no keys", start);
    const keys = [];
    const known = count > 8 ? new Set() : null;
    while (keys.length < count) {
      const at = this.at;
      const key = this.key();
      if (known ? known.has(key) : keys.includes(key)) this.fail("a shape has a key twice", at);
      known?.add(key);
      keys.push(key);
    }
    return new Shape(keys);
  }

  /** A text, or a reference to a symbol. */
  key() {
    const start = this.at;
    const header = start < this.end ? this.bytes[start] : 0;
    if (header < 0xC0 || header > 0xE0) {
      const key = this.keyText();
      if (this.known?.has(key)) this.fail("a key that is a symbol is no reference", start);
      return key;
    }
    this.at++;
    if (header < 0xE0) return this.symbol(header - 0xC0);
    const number = this.uint();
    if (this.isStrict && number < 32) this.fail("a reference fits in its header", start);
    return this.symbol(number);
  }

  // ## Arrays, maps, records

  /** Enters a container of so many bytes, and returns the end of the one around it. */
  enter(length) {
    const outer = this.end;
    if (length > outer - this.at) this.fail(`a length of ${length} goes beyond what is around it`);
    if (++this.depth > this.deepest) this.fail(`there are more than ${this.deepest} levels`, this.at - 1);
    this.end = this.at + length;
    return outer;
  }

  leave(outer) {
    this.end = outer;
    this.depth--;
  }

  array(length) {
    const outer = this.enter(length);
    const elements = this.elementsOfArray();
    this.leave(outer);
    return elements;
  }

  /** Short arrays are literals, which take the room they need; an array that grows takes it for many elements. */
  elementsOfArray() {
    const { end } = this;
    if (this.at === end) return [];
    const first = this.value();
    if (this.at === end) return [first];
    const second = this.value();
    if (this.at === end) return [first, second];
    const elements = [first, second, this.value()];
    while (this.at < end) if (elements.push(this.value()) > MOST_ELEMENTS) this.fitting(elements.length);
    return elements;
  }

  map(length) {
    const outer = this.enter(length);
    const object = this.newObject();
    while (this.at < this.end) {
      const start = this.at;
      const key = this.key();
      if (this.has(object, key)) this.fail("a map has a key twice", start);
      this.set(object, key, this.value());
    }
    this.leave(outer);
    return object;
  }

  /** The shape of a number, which was just read. */
  shapeAt(number) {
    if (number >= this.shapes.length) this.fail(`shape ${number} does not exist`, this.at - 1);
    return this.shapes[number];
  }

  record(number) {
    const shape = this.shapeAt(number);
    const outer = this.enter(this.uint());
    const Row = this.constructorOf(shape);
    const object = Row !== null ? this.row(shape.keys, Row) : this.recordOf(shape.keys);
    if (this.at < this.end) this.fail("a record has more values than keys");
    this.leave(outer);
    return object;
  }

  partial(number) {
    const shape = this.shapeAt(number);
    const outer = this.enter(this.uint());
    const object = this.recordOf(this.presentKeys(shape.keys));
    if (this.at < this.end) this.fail("a record has more values than presence bits");
    this.leave(outer);
    return object;
  }

  row(keys, Row) {
    const object = new Row();
    for (let index = 0; index < keys.length; index++) object[keys[index]] = this.value();
    return object;
  }

  recordOf(keys) {
    const object = this.newObject();
    for (const key of keys) this.set(object, key, this.value());
    return object;
  }

  has(object, key) { return this.makesMaps ? object.has(key) : key in object && hasOwn.call(object, key); }

  newObject() { return this.makesMaps ? new Map() : {}; }

  set(object, key, value) {
    if (this.makesMaps) object.set(key, value);
    else define(object, key, value);
  }

  presentKeys(keys) {
    const size = (keys.length + 7) >> 3;
    const start = this.take(size);
    const unused = size * 8 - keys.length;
    if (this.bytes[this.at - 1] >> (8 - unused)) this.fail("a presence bit stands without a key", this.at - 1);
    const present = [];
    for (let index = 0; index < keys.length; index++) {
      if ((this.bytes[start + (index >> 3)] >> (index & 7)) & 1) present.push(keys[index]);
    }
    return present;
  }

  // ## Packed arrays

  packed() {
    const { end, outer } = this.body();
    if (this.at === end) this.fail("a packed array has no element type");
    const type = this.byte();
    const elements = this.elements(type, this.at - 1);
    if (this.at < end) this.fail("there is something after the elements of a packed array");
    this.end = outer;
    return elements;
  }

  packedSingles() {
    const { outer } = this.body();
    const elements = this.sizedElements(0x09, this.at);
    this.end = outer;
    return elements;
  }

  /** Reads a length, and narrows what may be read to so many bytes. These bodies do not count for the depth. */
  body() {
    const length = this.uint();
    const outer = this.end;
    if (length > outer - this.at) this.fail(`a length of ${length} goes beyond what is around it`);
    this.end = this.at + length;
    return { end: this.end, outer };
  }

  elements(type, offset) {
    if (type === 0x0C) return this.bits();
    if (type === 0x0D) return this.ownWidths();
    if (type === 0x0E) return sums(this.ownWidths());
    if (type >= 0xB1 && type <= 0xB8) return this.differences(type - 0xB0);
    if (type === 0x0B || type === 0x0F) this.fail("an array has an element type that only columns have", offset);
    return this.sizedElements(type, offset);
  }

  sizedElements(type, offset) {
    const size = ELEMENT_SIZES[type];
    if (size === 0) this.wrongType(type, "an array", offset);
    const base = isOffset(type) ? this.base() : 0;
    const left = this.end - this.at;
    if (left % size !== 0) this.fail(`elements of ${size} bytes do not fill ${left} bytes`);
    return this.cells(type, this.take(left), left / size, base);
  }

  wrongType(type, place, offset) { this.fail(`${byteText(type)} is no element type of ${place}; ${LATER}`, offset); }

  /** An integer of up to 8 bytes, from which offsets count. */
  base() {
    const tag = this.byte();
    if (tag >= 0x80 && tag < 0xC0) return tag - 0x90;
    if (tag < 0x03 || tag > 0x0A) this.fail("a base is no integer of up to 8 bytes", this.at - 1);
    return signed(this.bytes, this.take(tag - 2), tag - 2);
  }

  bits() {
    const start = this.at;
    const unused = this.byte();
    const bytes = this.end - this.at;
    if (unused > 7 || (unused > 0 && bytes === 0)) this.fail(`${unused} bits cannot be unused`, start);
    const at = this.take(bytes);
    if (unused > 0 && this.bytes[at + bytes - 1] >> (8 - unused)) {
      this.fail("unused bits of Bools are not zero", at + bytes - 1);
    }
    const count = this.fitting(bytes * 8 - unused);
    const elements = [];
    for (let index = 0; index < count; index++) {
      elements.push(((this.bytes[at + (index >> 3)] >> (index & 7)) & 1) === 1);
    }
    return elements;
  }

  ownWidths() {
    const count = this.fitting(this.uint());
    const size = Math.ceil(count / 2);
    const widths = this.take(size);
    if (count % 2 === 1 && this.bytes[this.at - 1] > 0x0F) this.fail("an unused half byte is not zero", this.at - 1);
    const elements = [];
    for (let index = 0; index < count; index++) {
      const width = (this.bytes[widths + (index >> 1)] >> ((index & 1) * 4)) & 0x0F;
      if (width > 8) this.fail("a width is more than 8", widths + (index >> 1));
      elements.push(signed(this.bytes, this.take(width), width));
    }
    return elements;
  }

  differences(width) {
    const first = this.byte();
    if (first < 1 || first > 8) this.fail("the first element has no width of 1 to 8", this.at - 1);
    const elements = [signed(this.bytes, this.take(first), first)];
    this.fitting((this.end - this.at) / width);
    while (this.at < this.end) elements.push(signed(this.bytes, this.take(width), width));
    return sums(elements);
  }

  // ## Element types

  /** So many elements of a type, one after the other. */
  cells(type, at, count, base) {
    const size = ELEMENT_SIZES[type];
    const cells = arrayOf(this.fitting(count));
    for (let index = 0; index < count; index++, at += size) cells[index] = this.cell(type, at, base);
    return cells;
  }

  /** The element of a type at `at`. */
  cell(type, at, base) {
    if (type < 0x09) return signed(this.bytes, at, type);
    if (type >= 0x10 && type < 0xA0) {
      const exponent = type >> 4, width = type & 0x0F;
      if (width > 8) return this.noisyCell(width - 8, POWERS[exponent], at);
      return this.float(signed(this.bytes, at, width) / POWERS[exponent]);
    }
    if (type >= 0xC0) {
      const integer = unsigned(this.bytes, at, type & 0x0F);
      return type < 0xD0 ? integer : sum64(base, integer);
    }
    if (type >= 0xA0) return this.float(signed(this.bytes, at, type - 0xA0));
    if (type === 0x09) return this.single(at);
    if (type === 0x0A) return this.double(at);
    if (type === 0x0F) return this.date(at);
    if (this.bytes[at] > 1) this.fail("a Bool is neither 0 nor 1", at);
    return this.bytes[at] === 1;
  }

  noisyCell(width, power, at) {
    const numerator = signed(this.bytes, at, width);
    const residue = this.bytes[at + width];
    if (residue === 0) return this.float(numerator / power);
    if (residue !== 0x80) return this.noisy(numerator / power, residue);
    if (numerator % power !== 0) this.fail("a fraction is marked as an integer", at);
    return numerator / power;
  }

  // ## Tables and matrices

  table() {
    const { end, outer } = this.body();
    const shape = this.shapeAt(this.uint());
    const layout = this.layout(shape.keys.length);
    const Row = this.constructorOf(shape);
    const rows = arrayOf(this.fitting(layout.rows));
    for (let row = 0; row < layout.rows; row++) rows[row] = this.tableRow(layout, shape.keys, Row, row);
    this.at = end;
    this.end = outer;
    return rows;
  }

  /** What makes the objects of a shape; null if they are not made by assigning their properties. */
  constructorOf(shape) {
    return this.makesMaps ? null : shape.constructorOfRows();
  }

  tableRow(layout, keys, Row, row) {
    const object = Row !== null ? new Row() : this.newObject();
    const { types, bases } = layout;
    let at = layout.start + row * layout.stride;
    for (let column = 0; column < keys.length; column++) {
      const type = this.bytes[types + column];
      const cell = type === 0 ? this.constantOf(layout, column) : this.cell(type, at, bases[column]);
      at += ELEMENT_SIZES[type];
      if (Row !== null) object[keys[column]] = cell;
      else this.set(object, keys[column], cell);
    }
    return object;
  }

  matrix() {
    const { end, outer } = this.body();
    const count = this.uint();
    if (count === 0) this.fail("a matrix has no columns", this.at - 1);
    const layout = this.layout(this.fitting(count));
    const rows = arrayOf(this.fitting(layout.rows));
    for (let row = 0; row < layout.rows; row++) rows[row] = this.matrixRow(layout, row);
    this.at = end;
    this.end = outer;
    return rows;
  }

  /** The cells of a row. */
  matrixRow(layout, row) {
    const { types, count, bases } = layout;
    if (count === 2) return [this.cellOf(layout, 0, row), this.cellOf(layout, 1, row)];
    const cells = new Array(count);
    let at = layout.start + row * layout.stride;
    for (let column = 0; column < count; column++) {
      const type = this.bytes[types + column];
      cells[column] = type === 0 ? this.constantOf(layout, column) : this.cell(type, at, bases[column]);
      at += ELEMENT_SIZES[type];
    }
    return cells;
  }

  /** One cell of a row. It looks at all columns before it: whoever wants all cells takes `matrixRow`. */
  cellOf(layout, column, row) {
    const type = this.bytes[layout.types + column];
    if (type === 0) return this.constantOf(layout, column);
    let at = layout.start + row * layout.stride;
    for (let index = 0; index < column; index++) at += ELEMENT_SIZES[this.bytes[layout.types + index]];
    return this.cell(type, at, layout.bases[column]);
  }

  /** The value of a constant column: where values can be changed, a new one for each row. */
  constantOf({ bases, constants }, column) {
    const value = constants[column];
    if (typeof value !== "object" || value === null || value instanceof UUID) return value;
    this.at = bases[column];
    return this.constant();
  }

  /** Reads what stands before the rows of a table or matrix. */
  layout(count) {
    const types = this.take(count);
    const { rowLayout: layout } = this;
    const { bases, constants } = layout;
    let stride = 0, constantCount = 0;
    for (let column = 0; column < count; column++) {
      const type = this.bytes[types + column];
      const size = ELEMENT_SIZES[type];
      stride += size;
      if (type === 0) {
        constantCount++;
        bases[column] = this.at;
        constants[column] = this.constant();
      } else {
        if (size === 0) this.wrongType(type, "a column", types + column);
        bases[column] = isOffset(type) ? this.base() : 0;
      }
    }
    if (stride === 0) this.fail("rows have no bytes");
    if (constantCount > stride) this.fail("more columns are constant than a row has bytes");
    const left = this.end - this.at;
    layout.types = types;
    layout.count = count;
    layout.stride = stride;
    layout.rows = Math.floor(left / stride);
    layout.start = this.at;
    if (left === 0) this.fail("a table or matrix has no rows");
    if (left % stride !== 0) this.fail(`rows of ${stride} bytes do not fill ${left} bytes`);
    return layout;
  }

  /** Reads the value of a constant column. */
  constant() {
    if (this.at >= this.end) this.fail("a constant is wanted where no byte is left");
    const tag = this.bytes[this.at];
    if (tag === 0xE0 || tag === 0xC0) {
      this.at++;
      return tag === 0xE0 ? [] : this.newObject();
    }
    const isAllowed = tag <= 0x18 || tag === 0x1E || (tag >= 0x20 && tag <= 0x3F) || (tag >= 0x50 && tag <= 0x6F)
      || tag === 0x7C || (tag >= 0x80 && tag <= 0xBF);
    if (!isAllowed) this.fail(`a value of tag ${byteText(tag)} is no constant of a column`);
    return this.value();
  }

  // ## Skipping

  /** Steps over a value, whose tag must be known and whose end must lie within what is around it. */
  skip() {
    const tag = this.byte();
    const size = SKIPPED[tag];
    if (size >= 0) this.take(size);
    else if (size === LENGTH) this.take(this.uint());
    else if (size === NUMBER) this.uint();
    else if (size === SCALED) this.take((this.byte() & 0x0F) + (tag === 0x15 ? 1 : 0));
    else if (size === SHAPED) this.take((this.uint(), this.uint()));
    else if (size === STRING) this.stringSkipped();
    else this.reserved(tag);
  }

  stringSkipped() {
    const tag = this.bytes[this.at];
    if (!((tag >= 0x30 && tag < 0x70) || tag === 0x1D || tag === 0x1E)) this.fail("the value of a URL is no string");
    this.skip();
  }
}

const LENGTH = -1, NUMBER = -2, SCALED = -3, SHAPED = -4, STRING = -5, RESERVED = -6;
/** For each tag how many bytes follow it, or how that is found. */
const SKIPPED = Int8Array.from({ length: 256 }, (_, tag) => {
  if (tag <= 0x02) return 0;
  if (tag <= 0x0A) return tag - 2;
  if (tag <= 0x0F) return [8, 16, 16, 8, 4][tag - 0x0B];
  if (tag <= 0x13) return tag - 0x0F;
  if (tag <= 0x18) return [SCALED, SCALED, 8, SCALED, 16][tag - 0x14];
  if (tag <= 0x1F) return [LENGTH, STRING, LENGTH, LENGTH, LENGTH, NUMBER, RESERVED][tag - 0x19];
  if (tag <= 0x2F) return ((tag - 0x20) & 3) + 1;
  if (tag <= 0x4F) return tag - 0x30;
  if (tag <= 0x6F) return 0;
  if (tag === 0x7C) return 1;
  if (tag === 0x72 || tag === 0x73) return SHAPED;
  if (tag <= 0x75 || tag === 0x7A || tag === 0x7B) return LENGTH;
  if (tag <= 0x7F) return RESERVED;
  if (tag <= 0xBF) return 0;
  if (tag <= 0xDF) return tag - 0xC0;
  if (tag <= 0xEF) return tag - 0xE0;
  return LENGTH;
});

/** For each element type the bytes of an element, 0 if the type has none or is reserved. */
const ELEMENT_SIZES = Uint8Array.from({ length: 256 }, (_, type) => {
  const high = type >> 4, low = type & 0x0F;
  if (high === 0) return low <= 8 ? low : [4, 8, 1, 0, 0, 0, 8][low - 9];
  if (high <= 9) return low >= 1 && low <= 6 ? low : low >= 9 && low <= 14 ? low - 7 : 0;
  if (high === 0xA) return low <= 6 ? low : 0;
  if (high === 0xC || high === 0xD) return low <= 7 ? low : 0;
  return 0;
});

function isOffset(type) { return type >= 0xD1 && type <= 0xD7; }

/** An array for so many elements. One of more than 2²⁵ that is made at once is a hash table in V8. */
function arrayOf(count) { return new Array(Math.min(count, 1 << 25)); }

/** The sums of the elements up to each. */
function sums(elements) {
  for (let index = 1; index < elements.length; index++) elements[index] = sum64(elements[index - 1], elements[index]);
  return elements;
}

function uintSize(number) {
  return number <= 0xDF ? 1 : number <= 6367 ? 2 : number <= 268511 ? 3 : number <= 0xFFFFFFFF ? 5 : 9;
}

function byteText(byte) { return byte.toString(16).toUpperCase().padStart(2, "0"); }

function idText(id) { return id.toString(16).toUpperCase().padStart(8, "0"); }

function otherKind(kind) {
  if (kind === 0x01) return "a message that relies on a context stands where it may not";
  if (kind === 0x02) return "the bytes are a log and no message: openLog reads it";
  if (kind === 0x03) return "the bytes are a stream and no message: readStream reads it";
  return `the message is of kind ${byteText(kind)}, which is not known; ${LATER}`;
}

/** Calls what reads or writes. That there is no room on the stack, which the caller may have used up, is a StowError. */
function guarded(body) {
  try {
    return body();
  } catch (error) {
    if (isNoRoom(error)) throw new StowError(NO_ROOM);
    throw error;
  }
}

const NO_ROOM = "there is no room for so many levels or elements";

/** Whether an engine says that the stack, the memory or a Map is full. What a getter or a proxy of the caller throws is its own. */
function isNoRoom(error) {
  return /^(Range|Internal)Error$/.test(error?.name) && /call stack|recursion|maximum size|allocation|out of memory/i.test(error.message);
}

/**
 * The value of a message.
 *
 * @param {Uint8Array | ArrayBuffer} bytes
 * @param {object} [options] see stow.d.ts
 */
export function decode(bytes, options = {}) {
  return guarded(() => readerOf(bytes, options).whole());
}

/** A reader that stands before the value of a message. */
function readerOf(bytes, options) {
  const reader = new Reader(bytesOf(bytes), options);
  reader.context(options.contexts ?? [], options.context);
  reader.prelude();
  return reader;
}

// # What a writer chooses
//
// A value is first made a tree of nodes, in which every string is an entry of a table that counts its uses. Then the
// shapes and symbols are chosen, and the message is written from its end to its beginning, so that lengths are known.

const INTEGER = 1, LONG = 2, FLOAT = 3, SINGLE_NAN = 4, BOOL = 5, NIL = 6, TEXT = 7, URL_TEXT = 8, DATE = 9, DATA = 10,
  UUID_BYTES = 11, DECIMAL = 12, ARRAY = 13, OBJECT = 14;

const utf8Encoder = new TextEncoder();

/** A string of the message: as a value, a URL or a key. */
class Entry {
  constructor(text) {
    this.kind = TEXT;
    this.text = text;
    this.size = utf8Size(text);
    this.values = 0;
    this.keys = 0;
    /** The number of the symbol that it is; −1 if it is none. */
    this.symbol = -1;
    /** Whether it is a symbol of the context, though it may be written out. */
    this.isShared = false;
    this.utf8 = null;
  }

  get bytes() { return (this.utf8 ??= utf8Encoder.encode(this.text)); }
  /** The bytes it takes as a value. */
  get valueSize() { return this.size <= 31 ? 1 + this.size : 1 + uintSize(this.size) + this.size; }
  /** The bytes it takes as a text. */
  get textSize() {
    const { bytes, size } = this;
    const form = textForm(bytes, 0, size);
    if (form === SIX) return 1 + packedSize(size, 6);
    if (form === FIVE) return 1 + packedSize(fiveBitUnits(bytes, 0, size), 5);
    return size <= LONGEST_PACKED ? 1 + size : 1 + uintSize(size) + size;
  }
}

/** The bytes of a string in UTF-8. A surrogate without its other half has none. */
function utf8Size(text) {
  let size = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    size += unit < 0x800 ? 1 : 2;
    if ((unit & 0xF800) !== 0xD800) continue;
    if (unit >= 0xDC00 || (text.charCodeAt(index + 1) & 0xFC00) !== 0xDC00) {
      throw new StowError("a string has half of a surrogate pair, which UTF-8 cannot say");
    }
    index++;
  }
  return size;
}

/** Whatever is neither a number, a Bool, the nil of level 0, a string, an array nor an object. */
class Leaf {
  constructor(kind, value, bits = null) {
    this.kind = kind;
    this.value = value;
    this.bits = bits;
  }
}

class ArrayNode {
  constructor() {
    this.kind = ARRAY;
    this.items = [];
  }
}

class ObjectNode {
  /** @param order how many objects begin before it */
  constructor(order) {
    this.kind = OBJECT;
    this.order = order;
    this.items = [];
    /** Its keys; null if it has none. */
    this.list = null;
  }
}

/** The keys that some objects have, in their order: one more than those of the list before it. */
class KeyList {
  constructor(before, key) {
    this.before = before;
    this.key = key;
    /** The list with one key more that was asked for last, often the next; and all, if there are several. */
    this.last = null;
    this.longer = null;
    this.uses = 0;
    this.order = 0;
    this.shape = -1;
    this.isShared = false;
    this.gain = 0;
  }

  get keys() {
    const keys = [];
    for (let list = this; list.before !== null; list = list.before) keys.push(list.key);
    return keys.reverse();
  }

  /** The list with one key more. */
  with(text, collector) {
    const { last } = this;
    if (last === null) return (this.last = new KeyList(this, collector.entry(text)));
    if (last.key.text === text) return last;
    this.longer ??= new Map([[last.key, last]]);
    const entry = collector.entry(text);
    let list = this.longer.get(entry);
    if (list === undefined) this.longer.set(entry, (list = new KeyList(this, entry)));
    return (this.last = list);
  }
}

function kindOf(node) {
  switch (typeof node) {
    case "number": return isInteger(node) ? INTEGER : FLOAT;
    case "bigint": return node >= -(1n << 63n) && node < 1n << 63n ? INTEGER : LONG;
    case "boolean": return BOOL;
    default: return node === null ? NIL : node.kind;
  }
}

/** Whether a plain number is written as an integer. */
function isInteger(number) { return Number.isSafeInteger(number) && !Object.is(number, -0); }

/** The value of a float that is a number or a leaf. */
function floatOf(node) { return typeof node === "number" ? node : node.value; }

// ## From values to nodes

class Collector {
  constructor(options) {
    this.depth = 0;
    this.deepest = depthOf(options);
    this.isSorted = options.sortedKeys === true;
    this.strings = new Map();
    /** The list without keys, and those that objects have. */
    this.noKeys = new KeyList(null, null);
    this.lists = [];
    this.objectCount = 0;
  }

  entry(text) {
    let entry = this.strings.get(text);
    if (entry === undefined) this.strings.set(text, (entry = new Entry(text)));
    return entry;
  }

  node(value) {
    switch (typeof value) {
      case "string": return this.string(value);
      case "number": return value;
      case "boolean": return value;
      case "bigint": return integerNode(value);
      case "object": return value === null ? null : this.object(value);
      default: throw new StowError(`a value of type ${typeof value} cannot be written`);
    }
  }

  string(text) {
    const entry = this.entry(text);
    entry.values++;
    return entry;
  }

  object(value) {
    if (Array.isArray(value)) return this.array(value);
    const prototype = Object.getPrototypeOf(value);
    if (prototype === Object.prototype || prototype === null) return this.properties(value);
    if (value instanceof Map) return this.map(value);
    if (value instanceof Set) return this.array([...value]);
    const leaf = this.leaf(value);
    if (leaf !== null) return leaf;
    const name = Object.prototype.toString.call(value);
    if (name !== "[object Object]") throw new StowError(`a value of the class ${name.slice(8, -1)} cannot be written`);
    return this.properties(value);
  }

  leaf(value) {
    if (value instanceof Float) return floatNode(value);
    if (value instanceof Date) return dateNode(value);
    if (value instanceof UUID) return new Leaf(UUID_BYTES, value.bytes);
    if (value instanceof Decimal) return new Leaf(DECIMAL, value);
    if (value instanceof NestedNil) return new Leaf(NIL, value.level);
    if (value instanceof StowURL || (typeof URL === "function" && value instanceof URL)) {
      return new Leaf(URL_TEXT, this.string(value.href));
    }
    if (isArrayBuffer(value)) return new Leaf(DATA, bytesOf(value));
    if (!ArrayBuffer.isView(value)) return null;
    const name = typedArrayName.call(value), bytes = bytesOf(value);
    if (name === undefined || name === "Uint8Array") return new Leaf(DATA, bytes);
    this.fit(value);
    return this.array(name.startsWith("Float") ? Array.from(value, (element) => new Float(element)) : Array.from(value));
  }

  fit({ length }) {
    if (length > MOST_ELEMENTS) throw new StowError(`${length} elements are ${TOO_MANY}`);
  }

  enter() {
    if (++this.depth > this.deepest) throw new StowError(`there are more than ${this.deepest} levels`);
  }

  array(elements) {
    this.fit(elements);
    this.enter();
    const node = new ArrayNode();
    for (let index = 0; index < elements.length; index++) node.items.push(this.node(elements[index]));
    this.depth--;
    return node;
  }

  /** The properties of an object, but for those that are undefined, which it is taken not to have. */
  properties(object) {
    this.enter();
    const node = new ObjectNode(this.objectCount++);
    const keys = Object.keys(object);
    if (this.isSorted) keys.sort(compareUTF8);
    for (let index = 0; index < keys.length; index++) {
      const value = object[keys[index]];
      if (value !== undefined) this.property(node, keys[index], value);
    }
    return this.complete(node);
  }

  map(map) {
    const values = new Map();
    for (const [key, value] of map) values.set(keyOf(key), value);
    if (values.size < map.size) throw new StowError("two keys of a Map are one text, as 1 and \"1\" are");
    this.enter();
    const node = new ObjectNode(this.objectCount++);
    const keys = [...values.keys()];
    if (this.isSorted) keys.sort(compareUTF8);
    for (const key of keys) if (values.get(key) !== undefined) this.property(node, key, values.get(key));
    return this.complete(node);
  }

  property(node, key, value) {
    node.list = (node.list ?? this.noKeys).with(key, this);
    node.items.push(this.node(value));
  }

  complete(node) {
    this.depth--;
    const { list } = node;
    if (list !== null && list.uses++ === 0) {
      list.order = node.order;
      this.lists.push(list);
    } else if (list !== null && node.order < list.order) {
      // An object inside another is complete before it.
      list.order = node.order;
    }
    return node;
  }
}

function keyOf(key) {
  if (typeof key === "string") return key;
  if (typeof key === "bigint" || Number.isSafeInteger(key)) return String(key);
  throw new StowError("the keys of a Map are strings or integers");
}

/** The order of strings by their bytes in UTF-8, which is that of their scalars. */
function compareUTF8(left, right) {
  const size = Math.min(left.length, right.length);
  for (let index = 0; index < size; index++) {
    const first = left.charCodeAt(index), second = right.charCodeAt(index);
    // Surrogates stand for scalars above all others.
    if (first !== second) return scalarOrder(first) - scalarOrder(second);
  }
  return left.length - right.length;
}

function scalarOrder(unit) { return unit >= 0xE000 ? unit - 0x800 : unit >= 0xD800 ? unit + 0x2000 : unit; }

function integerNode(value) {
  if (value < -(1n << 127n) || value >= 1n << 128n) throw new StowError("an integer has more than 128 bits");
  return narrowed(value);
}

function floatNode(float) {
  if (float.bits !== null) {
    if (float.size === 4) return new Leaf(SINGLE_NAN, NaN, float.bits);
    return new Leaf(FLOAT, NaN, float.bits);
  }
  return isInteger(float.value) ? new Leaf(FLOAT, float.value) : float.value;
}

function dateNode(date) {
  const time = date.getTime();
  // A StowDate that was changed as a Date is what it was changed to.
  if (date instanceof StowDate && Object.is(time, new Date(timeOf(date.seconds)).getTime())) {
    return new Leaf(DATE, date.seconds, date.bits);
  }
  if (time !== time) throw new StowError("an invalid Date cannot be written");
  return new Leaf(DATE, (time - EPOCH) / 1000);
}

// ## Which key lists are shapes, which strings are symbols

/** A prelude takes so many bytes besides its symbols and shapes. */
const PRELUDE_SIZE = 3;
const SHORT_SYMBOLS = 32;

class Plan {
  constructor(collector, context) {
    this.context = context;
    this.symbols = [];
    this.shapes = this.chooseShapes(collector.lists);
    for (const list of collector.lists) {
      const written = list.isShared ? 0 : list.shape >= 0 ? 1 : list.uses;
      for (const key of list.keys) key.keys += written;
    }
    const candidates = this.candidates([...collector.strings.values()]);
    const gain = [...this.shapes, ...candidates].reduce((sum, each) => sum + each.gain, 0);
    if (gain > PRELUDE_SIZE) this.number(candidates);
    else this.forgetShapes();
  }

  forgetShapes() {
    for (const list of this.shapes) list.shape = -1;
    this.shapes = [];
  }

  chooseShapes(lists) {
    const chosen = lists.filter((list) => {
      if (this.context && this.takesShared(list)) return false;
      if (list.uses < 2) return false;
      const size = list.keys.reduce((sum, key) => sum + key.textSize, 0);
      list.gain = (list.uses - 1) * size - list.uses - 1;
      return list.gain > 0;
    });
    chosen.sort((left, right) => right.uses - left.uses || left.order - right.order);
    const first = this.context ? this.context.shapes.length : 0;
    chosen.forEach((list, index) => { list.shape = first + index; });
    return chosen;
  }

  /** Makes a list the shape of the context that has the same keys. */
  takesShared(list) {
    const shape = this.context.shapeOf(list.keys.map((key) => key.text));
    if (shape === undefined) return false;
    list.shape = shape;
    list.isShared = true;
    return true;
  }

  candidates(strings) {
    const shared = this.context ? this.context.symbols.length : 0;
    const candidates = strings.filter((entry) => {
      if (this.context && this.isShared(entry)) return false;
      const uses = entry.values + entry.keys;
      if (uses < 2) return false;
      entry.gain = entry.values * entry.valueSize + entry.keys * entry.textSize - entry.textSize - uses;
      return entry.gain > 0;
    });
    const room = Math.max(0, SHORT_SYMBOLS - shared);
    const ranked = candidates.map((_, index) => index).sort((left, right) => {
      return usesOf(candidates[right]) - usesOf(candidates[left]) || left - right;
    });
    candidates.forEach((entry) => { entry.isShort = false; });
    for (const index of ranked.slice(0, room)) candidates[index].isShort = true;
    for (const entry of candidates) if (!entry.isShort) entry.gain -= usesOf(entry) * uintSize(shared);
    return candidates.filter((entry) => entry.isShort || entry.gain > 0);
  }

  /** Whether a string is a symbol of the context. It is written as that where this takes fewer bytes than its text. */
  isShared(entry) {
    const symbol = this.context.symbolOf(entry.text);
    if (symbol === undefined) return false;
    const size = symbol < SHORT_SYMBOLS ? 1 : 1 + uintSize(symbol);
    if (size < entry.textSize) entry.symbol = symbol;
    return true;
  }

  number(candidates) {
    const short = candidates.filter((entry) => entry.isShort);
    this.symbols = short.concat(candidates.filter((entry) => !entry.isShort));
    const first = this.context ? this.context.symbols.length : 0;
    this.symbols.forEach((entry, index) => { entry.symbol = first + index; });
  }
}

function usesOf(entry) { return entry.values + entry.keys; }

// ## Forms of numbers

/** The fewest bytes of a signed integer of up to 64 bits, at least one. */
function widthOf(integer) {
  if (typeof integer === "bigint") {
    let width = 7;
    while (width < 16 && BigInt.asIntN(width * 8, integer) !== integer) width++;
    return width;
  }
  const bits = integer < 0 ? -integer - 1 : integer;
  if (bits < 0x80) return 1;
  if (bits < 0x8000) return 2;
  if (bits < 0x800000) return 3;
  if (bits < 0x80000000) return 4;
  return bits < 2 ** 39 ? 5 : bits < 2 ** 47 ? 6 : 7;
}

/** The fewest bytes of an integer without a sign, at least one. */
function unsignedWidth(integer) {
  if (typeof integer === "bigint") {
    let width = 7;
    while (width < 16 && BigInt.asUintN(width * 8, integer) !== integer) width++;
    return width;
  }
  if (integer < 0x100) return 1;
  if (integer < 0x10000) return 2;
  if (integer < 0x1000000) return 3;
  if (integer < 0x100000000) return 4;
  return integer < 2 ** 40 ? 5 : integer < 2 ** 48 ? 6 : 7;
}

function isInTag(integer) { return integer >= -16 && integer <= 47; }

function integerSize(integer) { return isInTag(integer) ? 1 : 1 + widthOf(integer); }

/** The width of an integer in a table of own widths. */
function ownWidth(integer) { return integer === 0 ? 0 : widthOf(integer); }

function negated(integer) { return typeof integer === "number" ? -integer : narrowed(-integer); }

const NUMERATOR_LIMIT = 2 ** 47;
/** Added and subtracted again, it rounds to an integer, ties to even. */
const ROUNDING = 2 ** 52 + 2 ** 51;
const compared = new DataView(new ArrayBuffer(16));
/** The residue of the decimal that was made last. */
let residueFound = 0;

/** The numerator over 10ᵉ that is nearest to a float; NaN if there is none. */
function numeratorOf(value, exponent) {
  const scaled = value * POWERS[exponent];
  if (!(Math.abs(scaled) < NUMERATOR_LIMIT)) return NaN;
  const numerator = scaled + ROUNDING - ROUNDING + 0;
  compared.setFloat64(0, value, true);
  compared.setFloat64(8, numerator / POWERS[exponent], true);
  const high = compared.getInt32(4, true) - compared.getInt32(12, true);
  residueFound = high * 4294967296 + compared.getUint32(0, true) - compared.getUint32(8, true);
  return residueFound >= -127 && residueFound <= 127 ? numerator : NaN;
}

/** The exponent to begin with; −1 if there is no decimal. */
function widestExponent(value) {
  const size = Math.abs(value);
  return size < 1e5 ? 9 : size < 1e8 ? 6 : size < 1e10 ? 4 : size < 1e14 ? 0 : -1;
}

function isSingle(value) { return Math.fround(value) === value; }

const INTEGRAL_FORM = 0, SHORT_FORM = 1, DECIMAL_FORM = 2, NOISY_FORM = 3, SINGLE_FORM = 4, DOUBLE_FORM = 5;

/** The canonical form of a float: its kind, its bytes with the tag, and what they say. */
function floatForm(value) {
  if (Math.abs(value) < 2147483648 && isInteger(value)) return form(INTEGRAL_FORM, 1 + widthOf(value), value);
  const size = isSingle(value) ? 5 : 9;
  const plain = form(size === 5 ? SINGLE_FORM : DOUBLE_FORM, size, value);
  let exponent = widestExponent(value);
  let numerator = exponent < 0 ? NaN : numeratorOf(value, exponent);
  if (numerator !== numerator) return plain;
  const residue = residueFound;
  while (exponent > 0 && numerator % 10 === 0) {
    numerator /= 10;
    exponent--;
  }
  const width = widthOf(numerator);
  const isShort = residue === 0 && exponent >= 1 && exponent <= 4 && width <= 4;
  if (isShort) return form(SHORT_FORM, 1 + width, numerator, exponent);
  const decimal = residue === 0
    ? form(DECIMAL_FORM, 2 + width, numerator, exponent) : form(NOISY_FORM, 3 + width, numerator, exponent, residue);
  return decimal.size < size ? decimal : plain;
}

function form(kind, size, number, exponent = 0, residue = 0) { return { kind, size, number, exponent, residue }; }

function dateSize(value) {
  const { kind, size } = floatForm(value);
  return kind === INTEGRAL_FORM || kind === SHORT_FORM ? size + 1 : kind === DECIMAL_FORM ? size : 9;
}

// ## Which arrays are packed

/** Integers of one width: signed, without a sign, or offsets from the least; the first of equals in this order. */
function fixedForm(integers) {
  let least = integers[0], greatest = least;
  for (const integer of integers) {
    if (integer < least) least = integer;
    if (integer > greatest) greatest = integer;
  }
  let width = Math.max(widthOf(least), widthOf(greatest)), type = width, base = null, baseSize = 0;
  const plain = least >= 0 ? unsignedWidth(greatest) : 8;
  if (plain < width) [type, width] = [0xC0 + plain, plain];
  const offset = unsignedWidth(offsetOf(greatest, least));
  if (offset < width && integerSize(least) + integers.length * offset < integers.length * width) {
    [type, width, base, baseSize] = [0xD0 + offset, offset, least, integerSize(least)];
  }
  return { type, width, base, baseSize, size: baseSize + integers.length * width };
}

/** The smallest form of an array of integers. `items` are what its body holds. */
function integersForm(integers) {
  const count = integers.length;
  let best = { ...fixedForm(integers), items: integers };
  const consider = (other) => { if (other.size < best.size) best = other; };
  consider({ type: 0x0D, base: null, size: ownWidthsSize(integers), items: integers });
  const steps = stepsOf(integers);
  if (differencesLookSmaller(integers, steps)) {
    let width = 1;
    for (let index = 1; index < count; index++) width = Math.max(width, widthOf(steps[index]));
    consider({ type: 0xB0 + width, width, base: null, size: 1 + widthOf(integers[0]) + (count - 1) * width, items: steps });
    consider({ type: 0x0E, base: null, size: ownWidthsSize(steps), items: steps });
  }
  return best;
}

/** The first integer, and of each other how far it is from the one before. */
function stepsOf(integers) {
  const steps = [integers[0]];
  for (let index = 1; index < integers.length; index++) {
    steps.push(sum64(integers[index], negated(integers[index - 1])));
  }
  return steps;
}

function ownWidthsSize(integers) {
  let size = uintSize(integers.length) + ((integers.length + 1) >> 1);
  for (const integer of integers) size += ownWidth(integer);
  return size;
}

/** Whether the first differences take fewer bytes than the values that they lead to. */
function differencesLookSmaller(integers, steps) {
  let saved = 0;
  for (let index = 1; index <= Math.min(64, integers.length - 1); index++) {
    saved += ownWidth(integers[index]) - ownWidth(steps[index]);
  }
  return saved > 0;
}

/** The smallest form of floats, perhaps with integers among them; null if there is none. */
function floatsForm(nodes) {
  const isMixed = nodes.some((node) => kindOf(node) === INTEGER);
  let best = null;
  if (!isMixed) {
    const areSingle = nodes.every((node) => isSingle(floatOf(node)));
    best = areSingle ? { type: 0x09, size: 4, width: 4, exponent: 0 } : { type: 0x0A, size: 8, width: 8, exponent: 0 };
  }
  const decimal = decimalsForm(nodes, isMixed);
  return decimal !== null && (best === null || decimal.size < best.size) ? decimal : best;
}

function decimalsForm(nodes, isMixed) {
  let exponent = commonExponent(nodes);
  if (exponent < 0) return null;
  let cells = decimalCells(nodes, exponent);
  if (cells === null) return null;
  const isNoisy = isMixed || cells.residues.some((residue) => residue !== 0);
  if (isNoisy && exponent === 0) {
    exponent = 1;
    cells = decimalCells(nodes, exponent);
    if (cells === null) return null;
  }
  let width = 1;
  for (const numerator of cells.numerators) width = Math.max(width, widthOf(numerator));
  if (isNoisy) return { type: (exponent << 4) | (width + 8), size: width + 1, width, exponent, ...cells };
  return { type: exponent === 0 ? 0xA0 + width : (exponent << 4) | width, size: width, width, exponent, ...cells };
}

/** The fewest decimals with which all floats are written; −1 if one is no decimal. */
function commonExponent(nodes) {
  let common = 0;
  for (const node of nodes) {
    if (kindOf(node) === INTEGER) continue;
    let exponent = widestExponent(floatOf(node));
    let numerator = exponent < 0 ? NaN : numeratorOf(floatOf(node), exponent);
    if (numerator !== numerator) return -1;
    if (numerator === 0) exponent = 0;
    while (exponent > common && numerator % 10 === 0) {
      numerator /= 10;
      exponent--;
    }
    common = Math.max(common, exponent);
  }
  return common;
}

const INTEGER_MARK = -128;

function decimalCells(nodes, exponent) {
  const numerators = [], residues = [];
  for (const node of nodes) {
    const isInteger = kindOf(node) === INTEGER;
    const numerator = isInteger ? Number(node) * POWERS[exponent] : numeratorOf(floatOf(node), exponent);
    if (!(Math.abs(numerator) < NUMERATOR_LIMIT)) return null;
    numerators.push(numerator);
    residues.push(isInteger ? INTEGER_MARK : residueFound);
  }
  return { numerators, residues };
}

/** So many elements are measured to learn what floats take with their tags. */
const SAMPLE = 64;

/** What all nodes take with their tags, by the look of the first. */
function estimate(nodes, sizeOf) {
  const count = Math.min(nodes.length, SAMPLE);
  let size = 0;
  for (let index = 0; index < count; index++) size += sizeOf(nodes[index]);
  return Math.floor((size * nodes.length) / count);
}

function numberSize(node) { return kindOf(node) === INTEGER ? integerSize(node) : floatForm(floatOf(node)).size; }

function arraySize(length) { return length <= 15 ? 1 + length : 1 + uintSize(length) + length; }

// ## Which arrays are tables and matrices

const WIDEST_MATRIX = 16;

/** How an array is laid out as a table or a matrix; null if it is none. */
function rowsForm(items) {
  const first = items[0];
  const isTable = first.kind === OBJECT;
  const count = first.items.length;
  if (count === 0 || (isTable ? first.list.shape < 0 : count > WIDEST_MATRIX)) return null;
  const areAlike = items.every((item) => {
    if (item === null || item.kind !== first.kind) return false;
    return isTable ? item.list === first.list : item.items.length === count;
  });
  if (!areAlike || first.items.some((cell) => !isCell(cell))) return null;
  const columns = [];
  for (let index = 0; index < count; index++) {
    const column = columnForm(items, index);
    if (column === null) return null;
    columns.push(column);
  }
  if (!pays(columns, items.length, isTable ? 2 : 1)) return null;
  return { columns, isTable, shape: isTable ? first.list.shape : 0 };
}

function isCell(node) {
  const kind = kindOf(node);
  if (kind === ARRAY || kind === OBJECT) return node.items.length === 0;
  return kind === INTEGER || kind === FLOAT || kind === BOOL || node === null || kind === TEXT || kind === DATE;
}

function pays(columns, rows, headerSize) {
  const stride = columns.reduce((sum, column) => sum + column.size, 0);
  const constants = columns.filter((column) => column.type === 0).length;
  if (stride === 0 || constants > stride) return false;
  const parameters = columns.reduce((sum, column) => sum + column.parameter, 0);
  const tagged = columns.reduce((sum, column) => sum + column.tagged, 0);
  return rows * stride + columns.length + 1 + parameters < tagged + rows * headerSize;
}

/** The form of a column: the size of its cells, what they take with their tags, and what stands before the rows. */
function columnForm(items, index) {
  const first = items[0].items[index];
  const cells = [];
  let kinds = 0, isConstant = true;
  for (let row = 0; row < items.length; row++) {
    const cell = items[row].items[index];
    kinds |= 1 << kindOf(cell);
    isConstant = isConstant && isSameCell(cell, first);
    cells.push(cell);
  }
  if (isConstant) return constantForm(first, cells.length);
  switch (kinds) {
    case 1 << INTEGER: return integerColumn(cells);
    case 1 << FLOAT: case (1 << FLOAT) | (1 << INTEGER): {
      const floats = floatsForm(cells);
      return floats && { ...floats, cells, tagged: estimate(cells, numberSize), parameter: 0 };
    }
    case 1 << BOOL: return { type: 0x0B, size: 1, cells, tagged: cells.length, parameter: 0 };
    case 1 << DATE: {
      const tagged = estimate(cells, (cell) => dateSize(cell.value));
      return { type: 0x0F, size: 8, cells, tagged, parameter: 0 };
    }
    default: return null;
  }
}

function integerColumn(cells) {
  const { type, width, base, baseSize } = fixedForm(cells);
  let tagged = 0;
  for (const cell of cells) tagged += integerSize(cell);
  return { type, size: width, base, cells, tagged, parameter: baseSize };
}

function constantForm(cell, count) {
  const kind = kindOf(cell);
  if (!isCell(cell) || (kind === TEXT && cell.symbol < 0 && cell.size > 15)) return null;
  const isNumber = kind === INTEGER || kind === FLOAT;
  const size = isNumber ? numberSize(cell) : kind === DATE ? dateSize(cell.value) : 1;
  return { type: 0, size: 0, constant: cell, tagged: size * count, parameter: size };
}

function isSameCell(left, right) {
  const kind = kindOf(left);
  if (kind !== kindOf(right)) return false;
  switch (kind) {
    case FLOAT: case DATE: return Object.is(floatOf(left), floatOf(right)) && bitsOf(left) === bitsOf(right);
    case ARRAY: case OBJECT: return left.items.length === 0 && right.items.length === 0;
    default: return left === right;
  }
}

/** The bits of a NaN; null for any other float. */
function bitsOf(node) {
  const value = floatOf(node);
  if (value === value) return null;
  return typeof node === "number" ? QUIET_NAN : node.bits ?? QUIET_NAN;
}

function levelOf(node) { return node === null ? 0 : node.value; }

// ## Writing, from the end to the beginning

class Writer {
  constructor() {
    this.bytes = new Uint8Array(1024);
    this.view = new DataView(this.bytes.buffer);
    /** What is written stands from here on. */
    this.at = this.bytes.length;
  }

  get size() { return this.bytes.length - this.at; }

  reserve(count) {
    if (this.at >= count) return;
    const grown = this.room(this.bytes.length * 2 + count);
    const at = grown.length - this.size;
    grown.set(this.bytes.subarray(this.at), at);
    [this.bytes, this.view, this.at] = [grown, new DataView(grown.buffer), at];
  }

  /** Memory of so many bytes, if the engine has it. */
  room(size) {
    try {
      return new Uint8Array(size);
    } catch {
      throw new StowError(NO_ROOM);
    }
  }

  byte(byte) {
    if (this.at === 0) this.reserve(1);
    this.bytes[--this.at] = byte;
  }

  all(bytes) {
    this.reserve(bytes.length);
    this.at -= bytes.length;
    this.bytes.set(bytes, this.at);
  }

  /** The lowest bytes of an integer. */
  integer(integer, width) {
    if (width === 0) return;
    this.reserve(width);
    this.at -= width;
    if (typeof integer === "bigint") {
      for (let index = 0; index < width; index++, integer >>= 8n) this.bytes[this.at + index] = Number(integer & 0xFFn);
      return;
    }
    const { bytes, at } = this;
    bytes[at] = integer;
    for (let index = 1; index < width && index < 4; index++) bytes[at + index] = integer >> (index * 8);
    if (width <= 4) return;
    const high = Math.floor(integer / 4294967296);
    for (let index = 4; index < width; index++) bytes[at + index] = high >> (index * 8 - 32);
  }

  double(value, bits = null) {
    this.reserve(8);
    this.at -= 8;
    if (value === value) this.view.setFloat64(this.at, value, true);
    else this.view.setBigUint64(this.at, bits ?? QUIET_NAN, true);
  }

  single(value) {
    this.reserve(4);
    this.at -= 4;
    this.view.setFloat32(this.at, value, true);
  }

  uint(number) {
    const size = uintSize(number);
    if (size === 1) return this.byte(number);
    if (size === 5 || size === 9) {
      this.integer(number, size - 1);
      return this.byte(size === 5 ? 0xFC : 0xFD);
    }
    const above = number - (size === 2 ? 224 : 6368);
    this.integer(above % (size === 2 ? 256 : 65536), size - 1);
    this.byte(size === 2 ? 0xE0 + (above >> 8) : 0xF8 + (above >> 16));
  }

  // ## Values

  value(node) {
    switch (kindOf(node)) {
      case INTEGER: case LONG: return this.taggedInteger(node);
      case FLOAT: return this.float(floatOf(node), bitsOf(node));
      case SINGLE_NAN: return this.tagged(0x0F, () => this.integer(node.bits, 4));
      case BOOL: return this.byte(node ? 0x02 : 0x01);
      case NIL: return this.nil(levelOf(node));
      case TEXT: return this.string(node);
      case URL_TEXT: return this.tagged(0x1A, () => this.string(node.value));
      case DATE: return this.date(node);
      case DATA: return this.sized(0x19, () => this.all(node.value));
      case UUID_BYTES: return this.tagged(0x18, () => this.all(node.value));
      case DECIMAL: return this.decimal(node.value);
      case ARRAY: return this.array(node.items);
      case OBJECT: return this.object(node);
    }
  }

  tagged(tag, body) {
    body();
    this.byte(tag);
  }

  sized(tag, body) {
    const size = this.size;
    body();
    this.uint(this.size - size);
    this.byte(tag);
  }

  nil(level) {
    if (level === 0) return this.byte(0x00);
    this.byte(level);
    this.byte(0x7C);
  }

  taggedInteger(integer) {
    if (isInTag(integer)) return this.byte(0x90 + Number(integer));
    const width = widthOf(integer);
    if (width <= 8) {
      this.integer(integer, width);
      return this.byte(width + 2);
    }
    if (integer > 0n && integer < 1n << 64n) return this.tagged(0x0B, () => this.integer(integer, 8));
    this.tagged(integer < 1n << 127n ? 0x0C : 0x0D, () => this.integer(integer, 16));
  }

  float(value, bits) {
    const { kind, size, number, exponent, residue } = floatForm(value);
    switch (kind) {
      case INTEGRAL_FORM: case SHORT_FORM:
        this.integer(number, size - 1);
        return this.byte(kind === INTEGRAL_FORM ? 0x0F + size - 1 : 0x20 + (exponent - 1) * 4 + size - 2);
      case DECIMAL_FORM: return this.scaled(0x14, number, exponent, size - 2);
      case NOISY_FORM:
        this.byte(residue);
        return this.scaled(0x15, number, exponent, size - 3);
      case SINGLE_FORM: return this.tagged(0x0F, () => this.single(number));
      default: return this.tagged(0x0E, () => this.double(number, bits));
    }
  }

  scaled(tag, numerator, exponent, width) {
    this.integer(numerator, width);
    this.byte((exponent << 4) | width);
    this.byte(tag);
  }

  date({ value, bits }) {
    const { kind, number, exponent } = floatForm(value);
    if (kind <= DECIMAL_FORM) return this.scaled(0x17, number, exponent, widthOf(number));
    this.tagged(0x16, () => this.double(value, bits));
  }

  decimal({ significand, exponent }) {
    this.sized(significand === null || significand < 0n ? 0x1C : 0x1B, () => {
      let rest = magnitude(significand ?? 0n);
      const bytes = [];
      for (; rest > 0n; rest >>= 8n) bytes.push(Number(rest & 0xFFn));
      this.all(bytes);
      this.byte(exponent);
    });
  }

  // ## Strings and texts

  string(entry) {
    if (entry.symbol >= 0) return this.symbol(entry.symbol);
    const { size } = entry;
    if (entry.utf8 !== null) {
      this.all(entry.utf8);
    } else {
      this.reserve(size);
      this.at -= size;
      utf8Encoder.encodeInto(entry.text, this.bytes.subarray(this.at, this.at + size));
    }
    if (size <= 31) return this.byte(0x30 + size);
    this.uint(size);
    this.byte(0x1D);
  }

  symbol(number) {
    if (number < SHORT_SYMBOLS) return this.byte(0x50 + number);
    this.uint(number);
    this.byte(0x1E);
  }

  key(entry) {
    if (entry.symbol < 0) return this.text(entry);
    if (entry.symbol < SHORT_SYMBOLS) return this.byte(0xC0 + entry.symbol);
    this.uint(entry.symbol);
    this.byte(0xE0);
  }

  text({ bytes, size }) {
    switch (textForm(bytes, 0, size)) {
      case SIX:
        this.codes(Array.from(bytes, (byte) => SIX_BIT_CODES[byte]), 6);
        return this.byte(size);
      case FIVE: {
        const codes = fiveBitCodes(bytes);
        this.codes(codes, 5);
        return this.byte(0x40 + codes.length);
      }
    }
    this.all(bytes);
    if (size <= LONGEST_PACKED) return this.byte(0x80 + size);
    this.uint(size);
    this.byte(0xE1);
  }

  codes(codes, bits) {
    const packed = new Uint8Array(packedSize(codes.length, bits));
    codes.forEach((code, index) => {
      const shifted = code << ((index * bits) & 7);
      const at = (index * bits) >> 3;
      packed[at] |= shifted;
      if (shifted > 0xFF) packed[at + 1] |= shifted >> 8;
    });
    this.all(packed);
  }

  // ## Containers

  object({ items, list }) {
    if (list === null) return this.byte(0xC0);
    const size = this.size;
    let before = list;
    for (let index = items.length - 1; index >= 0; index--, before = before.before) {
      this.value(items[index]);
      if (list.shape < 0) this.key(before.key);
    }
    const length = this.size - size;
    if (list.shape >= 0) return this.recordHead(list.shape, length);
    if (length <= 31) return this.byte(0xC0 + length);
    this.uint(length);
    this.byte(0x71);
  }

  recordHead(shape, length) {
    this.uint(length);
    if (shape < 8) return this.byte(0xF0 + shape);
    this.uint(shape);
    this.byte(0x72);
  }

  array(items) {
    if (items.length > 1 && this.packed(items)) return;
    this.plainArray(items);
  }

  plainArray(items) {
    const size = this.size;
    for (let index = items.length - 1; index >= 0; index--) this.value(items[index]);
    const length = this.size - size;
    if (length <= 15) return this.byte(0xE0 + length);
    this.uint(length);
    this.byte(0x70);
  }

  /** Writes an array without tags, if it may be; returns whether it is written. */
  packed(items) {
    switch (kindOf(items[0])) {
      case INTEGER: case FLOAT: return this.numbers(items);
      case BOOL: return this.bits(items);
      case ARRAY: case OBJECT: return this.rows(items);
      default: return false;
    }
  }

  numbers(items) {
    let integers = 0;
    for (const item of items) {
      const kind = kindOf(item);
      if (kind === INTEGER) integers++;
      else if (kind !== FLOAT) return false;
    }
    return integers === items.length ? this.integers(items) : this.floats(items);
  }

  integers(items) {
    const packed = integersForm(items);
    const tagged = items.reduce((sum, item) => sum + integerSize(item), 0);
    if (arraySize(tagged) < 2 + uintSize(packed.size + 1) + packed.size) return false;
    this.sized(0x74, () => {
      this.integerBody(packed);
      this.byte(packed.type);
    });
    return true;
  }

  integerBody({ type, width, base, items }) {
    if (type === 0x0D || type === 0x0E) return this.ownWidths(items);
    const areDifferences = type >= 0xB1 && type <= 0xB8;
    for (let index = items.length - 1; index >= (areDifferences ? 1 : 0); index--) {
      this.integer(base === null ? items[index] : offsetOf(items[index], base), width);
    }
    if (areDifferences) {
      this.integer(items[0], widthOf(items[0]));
      this.byte(widthOf(items[0]));
    } else if (base !== null) {
      this.taggedInteger(base);
    }
  }

  ownWidths(items) {
    const widths = new Uint8Array((items.length + 1) >> 1);
    for (let index = items.length - 1; index >= 0; index--) {
      const width = ownWidth(items[index]);
      this.integer(items[index], width);
      widths[index >> 1] |= width << ((index & 1) * 4);
    }
    this.all(widths);
    this.uint(items.length);
  }

  floats(items) {
    const packed = floatsForm(items);
    if (packed === null) return false;
    const length = packed.size * items.length + (packed.type === 0x09 ? 0 : 1);
    if (1 + uintSize(length) + length > arraySize(estimate(items, numberSize))) return false;
    this.sized(packed.type === 0x09 ? 0x75 : 0x74, () => {
      for (let index = items.length - 1; index >= 0; index--) this.floatCell(packed, index, items[index]);
      if (packed.type !== 0x09) this.byte(packed.type);
    });
    return true;
  }

  floatCell({ type, size, width, numerators, residues }, index, node) {
    if (type === 0x09) return this.single(floatOf(node));
    if (type === 0x0A) return this.double(floatOf(node), bitsOf(node));
    if (size > width) this.byte(residues[index]);
    this.integer(numerators[index], width);
  }

  bits(items) {
    if (items.length < 4 || items.some((item) => typeof item !== "boolean")) return false;
    const bits = new Uint8Array((items.length + 7) >> 3);
    items.forEach((item, index) => { if (item) bits[index >> 3] |= 1 << (index & 7); });
    this.sized(0x74, () => {
      this.all(bits);
      this.byte(bits.length * 8 - items.length);
      this.byte(0x0C);
    });
    return true;
  }

  rows(items) {
    const form = rowsForm(items);
    if (form === null) return false;
    const columns = form.columns.slice().reverse();
    this.sized(form.isTable ? 0x7A : 0x7B, () => {
      for (let row = items.length - 1; row >= 0; row--) for (const column of columns) this.cell(column, row);
      for (const column of columns) {
        if (column.type === 0) this.value(column.constant);
        else if (isOffset(column.type)) this.taggedInteger(column.base);
      }
      for (const column of columns) this.byte(column.type);
      this.uint(form.isTable ? form.shape : columns.length);
    });
    return true;
  }

  cell(column, row) {
    const { type, size, cells, base } = column;
    if (type === 0) return;
    if (type === 0x0B) return this.byte(cells[row] ? 1 : 0);
    if (type === 0x0F) return this.double(cells[row].value, cells[row].bits);
    if (type < 0x09 || type >= 0xC1) {
      return this.integer(isOffset(type) ? offsetOf(cells[row], base) : cells[row], size);
    }
    this.floatCell(column, row, cells[row]);
  }

  // ## Prelude

  prelude({ symbols, shapes }) {
    if (symbols.length + shapes.length === 0) return;
    for (const list of shapes.slice().reverse()) {
      for (const key of list.keys.slice().reverse()) this.key(key);
      this.uint(list.keys.length);
    }
    this.uint(shapes.length);
    for (const entry of symbols.slice().reverse()) this.text(entry);
    this.uint(symbols.length);
    this.byte(0x1F);
  }
}

/** How far an integer is above another. */
function offsetOf(integer, base) {
  if (typeof integer === "number" && typeof base === "number" && integer - base <= SAFE) return integer - base;
  return narrowed(BigInt(integer) - BigInt(base));
}

function fiveBitCodes(bytes) {
  const codes = [];
  for (const byte of bytes) {
    if (FIVE_BIT_CODES[byte] >= 0) codes.push(FIVE_BIT_CODES[byte]);
    else if (byte <= 0x39) codes.push(DIGIT_SHIFT, byte - 0x30);
    else codes.push(UPPER_SHIFT, byte - 0x41);
  }
  return codes;
}

/**
 * The canonical message of a value.
 *
 * @param {unknown} value
 * @param {object} [options] see stow.d.ts
 * @returns {Uint8Array}
 */
export function encode(value, options = {}) {
  return guarded(() => {
    const collector = new Collector(options);
    const node = collector.node(value);
    const plan = new Plan(collector, options.context);
    const writer = new Writer();
    writer.value(node);
    writer.prelude(plan);
    if (options.context && options.settled !== true) {
      writer.integer(options.context.id, 4);
      writer.byte(0x01);
      writer.byte(0x7F);
    }
    return writer.bytes.slice(writer.at);
  });
}

// # Contexts

/** Symbols and shapes that writer and reader hold before a message comes. */
export class Context {
  /** @param {Uint8Array} message the message of the context */
  constructor(message) {
    const bytes = bytesOf(message).slice();
    const reader = new Reader(bytes);
    reader.isStrict = true;
    if (reader.byte() !== 0x1F) reader.fail("a context begins with a prelude", 0);
    reader.readSymbols(reader.symbols);
    reader.known = new Set(reader.symbols);
    reader.readShapes(reader.shapes);
    if (reader.byte() !== 0x00) reader.fail("the value of a context is not nil", reader.at - 1);
    if (reader.at < reader.end) reader.fail("there is something after the context");
    this.message = bytes;
    this.id = checksum(bytes);
    this.symbols = reader.symbols;
    this.shapes = reader.shapes;
    this.symbolNumbers = new Map(this.symbols.map((symbol, number) => [symbol, number]));
    this.keyNumbers = new Map();
    for (const { keys } of this.shapes) for (const key of keys) this.keyNumbers.set(key, this.keyNumbers.get(key) ?? this.keyNumbers.size);
    this.shapeNumbers = new Map(this.shapes.map(({ keys }, number) => [this.listName(keys), number]));
    if (this.symbolNumbers.size < this.symbols.length) reader.fail("a context has a symbol twice", 0);
    if (this.shapeNumbers.size < this.shapes.length) reader.fail("a context has a shape twice", 0);
  }

  /** The number of a symbol; undefined if a string is none. */
  symbolOf(text) { return this.symbolNumbers.get(text); }

  /** The number of the shape that has these keys; undefined if there is none. */
  shapeOf(keys) { return this.shapeNumbers.get(this.listName(keys)); }

  /** A list of keys in short. Put together, keys that are references to symbols may take far more room than the context. */
  listName(keys) { return keys.map((key) => this.keyNumbers.get(key)).join(); }
}

// ## CRC-32C

const POLYNOMIAL = 0x82F63B78;
const CRC_TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  for (let bit = 0; bit < 8; bit++) byte = (byte >>> 1) ^ (byte & 1 ? POLYNOMIAL : 0);
  return byte;
});

/** The remainder after some more bytes. */
function remainder(state, bytes, start, end) {
  for (let at = start; at < end; at++) state = CRC_TABLE[(state ^ bytes[at]) & 0xFF] ^ (state >>> 8);
  return state;
}

/** The CRC-32C of some bytes, one part after the other. */
function checksum(...parts) {
  return (parts.reduce((state, bytes) => remainder(state, bytes, 0, bytes.length), -1) ^ -1) >>> 0;
}

// # Logs

const LOG_VERSION = 0x01;
const BLOCK_SIZE = 65536, HEAD_SIZE = 32, FRAME_HEAD_SIZE = 7;
const RECORDS = 0x01, FIRST_PART = 0x02, MIDDLE_PART = 0x03, LAST_PART = 0x04, FRESH_RECORDS = 0x05, ORIGIN = 0x06,
  PACKABLE = 0x07, FRESH_PACKABLE = 0x08, CHECKPOINT = 0x09, GIVEN_UP = 0x0A, NOTE = 0x0B;
/** Numbers are below this, also that of the record after the last. */
const NUMBER_LIMIT = 1n << 62n;
const WINDOW_SIZE = 4096, MOST_UNPACKED = 65497;
/** The parts of a record may have so many bytes together, unless an option says otherwise. */
const RECORD_SIZE = 1 << 30;

/** The remainders of 1, x⁸, x¹⁶ … by the polynomial of the checksum, whose highest power is in the lowest bit. */
let powers = null;

function powersOfX() {
  const result = new Int32Array(BLOCK_SIZE + 1);
  result[0] = 1 << 31;
  for (let index = 1; index < result.length; index++) {
    result[index] = (result[index - 1] >>> 8) ^ CRC_TABLE[result[index - 1] & 0xFF];
  }
  return result;
}

/** The product of two remainders, which is one. */
function product(factor, power) {
  let result = 0;
  for (; power !== 0; power <<= 1) {
    if (power < 0) result ^= factor;
    factor = (factor >>> 1) ^ (factor & 1 ? POLYNOMIAL : 0);
  }
  return result;
}

/** The remainders of all beginnings of a block. That of any part follows: after damage, frames may begin anywhere. */
class Remainders {
  constructor(bytes) {
    powers ??= powersOfX();
    this.before = new Int32Array(bytes.length + 1);
    for (let at = 0; at < bytes.length; at++) this.before[at + 1] = remainder(this.before[at], bytes, at, at + 1);
  }

  after(state, start, end) { return product(state ^ this.before[start], powers[end - start]) ^ this.before[end]; }
}

const NO_BYTES = new Uint8Array(0);

/** The records of a log that share their definitions. */
class Scope {
  constructor() {
    /** Numbers and messages; of records that were left out, how many. */
    this.records = [];
    /** What packed records copy from; it grows, because scopes may be many. */
    this.window = NO_BYTES;
    this.windowSize = 0;
    this.isWindowClosed = false;
  }

  /** The record that a packed one stands for. */
  unpacked(packed) {
    const bytes = [];
    const reader = new Reader(packed);
    while (reader.at < reader.end && bytes.length <= MOST_UNPACKED) {
      const first = reader.byte();
      if (first < 0x80) {
        const at = reader.take(first + 1);
        for (let index = 0; index <= first; index++) bytes.push(packed[at + index]);
        continue;
      }
      const start = ((first & 0x0F) << 8) | reader.byte();
      const code = (first >> 4) & 7;
      const length = code < 7 ? code + 4 : reader.byte() + 11;
      if (start + length > this.windowSize) reader.fail("a packed record copies from beyond its window");
      for (let index = 0; index < length; index++) bytes.push(this.window[start + index]);
    }
    if (bytes.length === 0 || bytes[0] === 0x1F || bytes.length > MOST_UNPACKED) {
      reader.fail("what is packed is no record without a prelude");
    }
    return Uint8Array.from(bytes);
  }

  /** Adds a record that is not packed to the window, as long as it has room. */
  extendWindow(message) {
    if (this.isWindowClosed || this.windowSize + message.length > WINDOW_SIZE) {
      this.isWindowClosed = true;
      return;
    }
    const size = this.windowSize + message.length;
    if (size > this.window.length) {
      const window = new Uint8Array(Math.min(2 * size, WINDOW_SIZE));
      window.set(this.window);
      this.window = window;
    }
    this.window.set(message, this.windowSize);
    this.windowSize = size;
  }
}

/** What was read of one block. */
class Block {
  constructor(index, firstRecord) {
    this.index = index;
    /** The number in its head; null if the head is damaged. */
    this.firstRecord = firstRecord;
    this.scopes = [];
    /** The part of a group with which it begins, and the first part of one with which it ends. */
    this.continuation = null;
    this.beginning = null;
    this.origin = null;
    /** The numbers of the records that were given up, from the first to the last, if it begins so. */
    this.givenUp = null;
    /** The number of the record that comes next: the least that it can be, if it is not known. */
    this.next = firstRecord ?? 0n;
    this.isNextKnown = firstRecord !== null;
    this.isScopeWhole = true;
    /** Where the last whole frame ends, in the file; and the same without a first part. */
    this.end = this.endOfRecords = index * BLOCK_SIZE + HEAD_SIZE;
    this.damage = [];
    /** All whole frames, with their records; and the records of the one that was taken last. */
    this.frames = [];
    this.placed = null;
  }

  /** Whether a group goes on in the next block. */
  get isOpen() { return this.beginning !== null || (this.continuation !== null && !this.continuation.isLast); }
  /** The number of the last record of the group that goes on; null if none does. */
  get unfinished() { return this.isOpen ? (this.beginning ?? this.continuation).number : null; }
  get nextRecord() { return this.beginning === null ? this.next : this.beginning.number + 1n; }

  damaged(start, end, reason) {
    const last = this.damage[this.damage.length - 1];
    if (last?.end === start && last.reason === reason) last.end = end;
    else this.damage.push({ start, end, reason });
    this.isNextKnown = this.isScopeWhole = false;
  }

  // ## Frames

  /** Takes in a whole frame; false if it cannot be read where it stands. */
  take(kind, payload, isFirst) {
    this.placed = null;
    if (this.isOpen) return false;
    if (kind === ORIGIN) return this.takeOrigin(payload, isFirst);
    const reader = new Reader(payload);
    try {
      const number = reader.bigUint();
      if (number >= NUMBER_LIMIT) return false;
      switch (kind) {
        case MIDDLE_PART: case LAST_PART: return isFirst && this.takeRest(kind, number, reader);
        case GIVEN_UP: return isFirst && this.takeGivenUp(number, reader);
        case CHECKPOINT: return reader.at === reader.end && this.comesNext(number);
        case NOTE: return this.comesNext(number);
        case FIRST_PART: return this.comesNext(number) && this.takeBeginning(number, reader);
        default: return this.comesNext(number) && this.takeRecords(kind, number, reader);
      }
    } catch (error) {
      if (error instanceof StowError) return false;
      throw error;
    }
  }

  takeOrigin(payload, isFirst) {
    if (!isFirst || this.index !== 0 || payload.length !== 16) return false;
    this.origin = { identity: hex(payload.subarray(0, 8)), begun: narrowed(wide(payload, 8, 8)) };
    return true;
  }

  /** Whether a number is the one that must follow. After damage it is taken as it is, unless it is too low. */
  comesNext(number) {
    if (this.isNextKnown ? number !== this.next : number < this.next) return false;
    this.next = number;
    this.isNextKnown = true;
    return true;
  }

  takeRest(kind, number, reader) {
    if (reader.at === reader.end || number + 1n >= NUMBER_LIMIT || !this.comesNext(number + 1n)) return false;
    this.continuation = { number, content: reader.bytes.subarray(reader.at), isLast: kind === LAST_PART };
    return true;
  }

  takeGivenUp(number, reader) {
    const count = this.count(number, reader);
    if (reader.at !== reader.end || !this.comesNext(number + count)) return false;
    this.givenUp = { first: number, number: number + count - 1n };
    return true;
  }

  takeBeginning(first, reader) {
    const count = this.count(first, reader);
    const size = reader.uint();
    const content = reader.bytes.subarray(reader.at);
    if (content.length === 0 || size <= content.length) return false;
    this.beginning = { first, number: first + count - 1n, count, content, size };
    return true;
  }

  /** How many records there are from a number on. */
  count(number, reader) {
    const count = reader.bigUint();
    if (count === 0n || count >= NUMBER_LIMIT - number) reader.fail("so many records cannot be");
    return count;
  }

  takeRecords(kind, number, reader) {
    const isPackable = kind === PACKABLE || kind === FRESH_PACKABLE;
    const isFresh = kind === FRESH_RECORDS || kind === FRESH_PACKABLE;
    const { parts, end } = recordParts(number, reader, isPackable);
    if (end >= NUMBER_LIMIT) return false;
    if (!isFresh && !this.isScopeWhole) {
      // They count, so that their numbers are given to no others.
      this.next = end;
      return false;
    }
    const isNew = isFresh || this.scopes.length === 0;
    const scope = isNew ? new Scope() : this.scopes[this.scopes.length - 1];
    for (const part of parts) {
      if (part.isPacked) part.message = scope.unpacked(part.message);
      else if (isPackable && part.message) scope.extendWindow(part.message);
    }
    if (isNew) this.scopes.push(scope);
    this.placed = { number, parts, scope, first: scope.records.length };
    for (const part of parts) scope.records.push(part);
    this.next = end;
    return (this.isScopeWhole = true);
  }
}

/** All records of a frame: the bytes in the file and the message, or how many were left out; and the number after them. */
function recordParts(number, reader, isPackable) {
  const parts = [];
  while (reader.at < reader.end) {
    const head = reader.uint();
    if (head === 0) {
      const leftOut = reader.bigUint();
      if (leftOut === 0n) reader.fail("nothing was left out");
      parts.push({ number, bytes: reader.bytes.subarray(reader.at, reader.at), message: null, isPacked: false, leftOut });
      number += leftOut;
      continue;
    }
    const length = isPackable ? Math.floor(head / 2) : head;
    const at = reader.take(length);
    const bytes = reader.bytes.subarray(at, at + length);
    parts.push({ number: number++, bytes, message: bytes, isPacked: isPackable && head % 2 === 1, leftOut: null });
  }
  return { parts, end: number };
}

/** The records of a group that was put together; null if its bytes are something else. */
function recordsOfGroup(first, count, content) {
  try {
    const { parts, end } = recordParts(first, new Reader(content), false);
    return BigInt(parts.length) === count && end === first + count && parts.every(({ message }) => message) ? parts : null;
  } catch (error) {
    if (error instanceof StowError) return null;
    throw error;
  }
}

// ## Heads of blocks

function hasChecksum(head) {
  return head.length === HEAD_SIZE && unsigned(head, 4, 4) === checksum(head.subarray(0, 4), head.subarray(8));
}

function isVersion(head) { return head[0] === 0x7F && head[1] === 0x02 && head[2] === LOG_VERSION && head[3] === 0x00; }

function isOtherVersion(head) { return head[0] === 0x7F && head[1] === 0x02 && !isVersion(head) && hasChecksum(head); }

function isWholeHead(head, index) {
  return isVersion(head) && hasChecksum(head) && unsigned(head, 24, 4) === index
    && wide(head, 16, 8) < NUMBER_LIMIT && unsigned(head, 28, 4) <= index;
}

/** Whether bytes are those of a log: by its beginning, or by the head of its second block if the first bytes are damaged. */
function isLog(bytes) {
  return bytes[0] === 0x7F && bytes[1] === 0x02 || isWholeHead(bytes.subarray(BLOCK_SIZE, BLOCK_SIZE + HEAD_SIZE), 1);
}

// ## Reading a log

/** The records of a log, and what cannot be read of it. */
class LogReader {
  /** - first, until: where the records of a segment begin, and those of the next one, if there is a next one. */
  constructor(bytes, options, first = 0n, until = null) {
    this.bytes = bytes;
    this.options = options;
    this.first = first;
    this.until = until;
    this.recordSize = recordSizeOf(options);
    this.identity = this.findIdentity();
    this.blocks = [];
    this.records = [];
    this.damage = [];
    /** The numbers of records that were left out or given up, from the first to that after the last. */
    this.absent = [];
  }

  log() {
    for (let index = 0; index * BLOCK_SIZE < this.bytes.length; index++) this.blocks.push(this.block(index));
    let last = this.findEnd();
    // The head of a segment that has another one's name may say a lower number.
    if (this.count < this.first) this.count = this.first;
    if (this.until !== null) {
      // Nothing is written to it any more: what is not whole at its end is damaged.
      [this.count, this.end, last] = [this.until, this.bytes.length, this.blocks.length - 1];
    }
    this.readRecords(last);
    this.collectDamage(last);
    const origin = this.blocks[0]?.origin ?? null;
    const { end, records, damage } = this;
    const identity = hex(this.identity), count = narrowed(this.count), first = narrowed(this.first);
    const absent = this.absent.map(rangeOf);
    return { identity, first, count, end, origin, records, lost: this.lost(), absent, damage };
  }

  /** Whether the frame is damaged that would name the log of the file. */
  get isOriginDamaged() {
    const damage = this.blocks[0]?.damage;
    return !damage || damage.some(({ start, end }) => start <= HEAD_SIZE && HEAD_SIZE < end);
  }

  // ### Heads

  head(index) { return this.bytes.subarray(index * BLOCK_SIZE, index * BLOCK_SIZE + HEAD_SIZE); }

  checkVersion(index) {
    const head = this.head(index);
    if (!isOtherVersion(head)) return;
    throw new StowError(`the log is of version ${head[2]}, which is not known`, index * BLOCK_SIZE);
  }

  /** The identity in the first head that is whole. */
  findIdentity() {
    for (let index = 0; index * BLOCK_SIZE < this.bytes.length; index++) {
      this.checkVersion(index);
      const head = this.head(index);
      if (isWholeHead(head, index)) return head.slice(8, 16);
    }
    throw new StowError("the bytes are no log: no head of a block is whole", 0);
  }

  // ### Blocks

  /** What can be read of a block; null if neither its head nor a frame is whole. */
  block(index) {
    const start = index * BLOCK_SIZE;
    const content = this.bytes.subarray(start, start + BLOCK_SIZE);
    const head = this.head(index);
    if (content.length < HEAD_SIZE || isOtherVersion(head)) return null;
    const isWhole = isWholeHead(head, index) && this.identity.every((byte, at) => head[8 + at] === byte);
    const block = new Block(index, isWhole ? wide(head, 16, 8) : null);
    if (!isWhole) block.damaged(start, start + HEAD_SIZE, "head");
    if (!isWhole) block.isScopeWhole = true;
    return this.readFrames(block, content, start) || isWhole ? block : null;
  }

  /** Reads the frames of a block, and returns whether one is whole. */
  readFrames(block, content, start) {
    let at = HEAD_SIZE, hasFrame = false, remainders = null;
    let used = content.length;
    while (used > 0 && content[used - 1] === 0) used--;
    while (at < used) {
      const end = this.frameEnd(content, at, start, remainders);
      if (end < 0) {
        remainders ??= new Remainders(content);
        block.damaged(start + at, start + at + 1, "frame");
        at++;
        continue;
      }
      hasFrame = true;
      const kind = content[at + 6];
      const isTaken = block.take(kind, content.subarray(at + FRAME_HEAD_SIZE, end), at === HEAD_SIZE);
      if (!isTaken) block.damaged(start + at, start + end, "frame");
      block.frames.push({ start: start + at, end: start + end, kind, isTaken, records: isTaken ? block.placed : null });
      at = end;
      block.end = start + at;
      if (kind !== FIRST_PART) block.endOfRecords = block.end;
    }
    return hasFrame;
  }

  /** Where the whole frame at an offset ends; −1 if something else stands there. */
  frameEnd(content, at, start, remainders) {
    const begin = at + FRAME_HEAD_SIZE;
    const end = begin + unsigned(content, at + 4, 2);
    if (begin > content.length || end === begin || end > content.length) return -1;
    if (content[at + 6] < RECORDS || content[at + 6] > NOTE) return -1;
    const offset = new Uint8Array(8);
    new DataView(offset.buffer).setBigUint64(0, BigInt(start + at), true);
    let state = remainder(remainder(-1, this.identity, 0, 8), offset, 0, 8);
    state = remainder(state, content, at + 4, begin);
    state = remainders ? remainders.after(state, begin, end) : remainder(state, content, begin, end);
    return (state ^ -1) >>> 0 === unsigned(content, at, 4) ? end : -1;
  }

  // ### The end

  /** Finds where the log ends, and returns the index of the last block that belongs to it. */
  findEnd() {
    let index = this.blocks.length - 1;
    for (; ; index--) {
      this.checkVersion(index);
      if (this.blocks[index]) break;
    }
    const last = this.blocks[index];
    let unfinished = last.unfinished;
    const isEmpty = last.end % BLOCK_SIZE === HEAD_SIZE;
    if (unfinished === null && isEmpty) unfinished = this.blocks[index - 1]?.unfinished ?? null;
    if (unfinished === null) {
      [this.count, this.end] = [last.nextRecord, last.end];
      return index;
    }
    return this.endBefore(unfinished, index);
  }

  /** The same where a record is not finished at the end, which may still be written. */
  endBefore(unfinished, index) {
    this.count = unfinished;
    for (; index >= 0; index--) {
      const block = this.blocks[index];
      if (!block) continue;
      const isFirst = block.beginning?.number === unfinished;
      if (isFirst || (block.nextRecord <= unfinished && !block.isOpen)) {
        if (isFirst) this.count = block.beginning.first;
        this.end = block.endOfRecords;
        return index;
      }
    }
    this.end = 0;
    return -1;
  }

  // ### Records

  readRecords(last) {
    this.next = this.first;
    let claimed = this.first;
    // The least number of a record that counts, by the heads so far; and the block before which all belongs to a lost group.
    let least = 0n, lostUntil = 0;
    for (let index = 0; index <= last; index++) {
      const block = this.blocks[index];
      if (!block) continue;
      least = larger(least, this.claim(index, last));
      if (index < lostUntil) continue;
      if (block.firstRecord !== null && block.firstRecord < claimed) {
        this.damage.push({ start: index * BLOCK_SIZE, end: index * BLOCK_SIZE + HEAD_SIZE, reason: "head" });
      }
      claimed = block.nextRecord;
      const end = smaller(this.limit(index, last), this.count);
      if (block.givenUp !== null) {
        const after = block.givenUp.number + 1n;
        this.leaveOut(block.givenUp.first, after, end);
        this.next = larger(this.next, smaller(after, end));
      }
      this.next = larger(this.next, smaller(least, this.count));
      for (const scope of block.scopes) this.readScope(scope, end);
      const { beginning } = block;
      if (!beginning || this.next > beginning.first || beginning.number >= end) continue;
      const groupEnd = this.readParts(block);
      if (groupEnd === null) continue;
      lostUntil = groupEnd;
      // None of its numbers counts, so the block after it may have lower ones.
      let claimedUntil = 0n;
      for (let each = index; each <= groupEnd; each++) claimedUntil = larger(claimedUntil, this.claim(each, last));
      this.next = larger(this.next, smaller(beginning.first, claimedUntil));
    }
  }

  /** The number that no record of a block reaches: where heads contradict each other, a record belongs to the later block. */
  limit(index, last) { return (index < last ? this.blocks[index + 1]?.firstRecord : null) ?? NUMBER_LIMIT; }

  /** The least number of a record that counts from a block on, as far as its head says. */
  claim(index, last) {
    const block = index <= last ? this.blocks[index] : null;
    return block ? smaller(block.firstRecord ?? 0n, this.limit(index, last)) : 0n;
  }

  /** Takes in the numbers of records that are not there, as far as they count. */
  leaveOut(first, after, limit) {
    const start = larger(first, this.next), end = smaller(after, limit);
    if (start >= end) return;
    this.absent.push({ start, end });
    this.next = end;
  }

  add(number, record) {
    this.records.push({ number: narrowed(number), ...record });
    this.next = number + 1n;
  }

  readScope(scope, limit) {
    const definitions = new Definitions(this.options);
    for (const { number, message, leftOut } of scope.records) {
      if (leftOut) {
        this.leaveOut(number, number + leftOut, limit);
        continue;
      }
      const record = definitions.read(message);
      if (number >= this.next && number < limit) this.add(number, record);
    }
  }

  /** Reads the group that begins in a block and goes on in others. Returns the block after those that belong to a lost one, otherwise null. */
  readParts(block) {
    const { first, number, count, content } = block.beginning;
    const { bytes, end } = this.joined(block, (index) => this.blocks[index]);
    const records = bytes && recordsOfGroup(first, count, bytes);
    if (records) {
      const scope = new Scope();
      scope.records = records;
      this.readScope(scope, this.count);
      return null;
    }
    const isGivenUp = !bytes && this.blocks[end]?.givenUp?.number === number;
    if (!isGivenUp) this.damage.push({ start: block.end - content.length, end: block.end, reason: "record" });
    return end;
  }

  /** The bytes of that group, null if a part is missing or does not fit; and the block of the last part, or of the one that is missing. */
  joined({ index, beginning }, blockAt) {
    const { number, size, content } = beginning;
    const parts = [content];
    for (let length = content.length; ;) {
      const part = blockAt(++index)?.continuation;
      if (part?.number !== number) return { bytes: null, end: index };
      length += part.content.length;
      parts.push(part.content);
      if (!part.isLast) continue;
      const fits = length === size && length <= this.recordSize;
      return { bytes: fits ? concatenated(parts, length) : null, end: index };
    }
  }

  // ### Damage

  /** The numbers of records that were lost, as ranges: `end` is the number after the last. */
  lost() {
    const ranges = [];
    let next = this.first;
    const there = this.records.map(({ number }) => ({ start: BigInt(number), end: BigInt(number) + 1n }));
    const all = [...there, ...this.absent].sort((left, right) => (left.start < right.start ? -1 : 1));
    for (const { start, end } of [...all, { start: this.count, end: this.count }]) {
      if (start > next) ranges.push(rangeOf({ start: next, end: start }));
      if (end > next) next = end;
    }
    return ranges;
  }

  collectDamage(last) {
    for (let index = 0; index <= last; index++) {
      const start = index * BLOCK_SIZE;
      const damage = this.blocks[index]?.damage ?? [{ start, end: start + BLOCK_SIZE, reason: "block" }];
      for (const each of damage) if (each.start < this.end) this.damage.push(each);
    }
    this.damage.sort((left, right) => left.start - right.start);
  }
}

function smaller(left, right) { return left < right ? left : right; }

function larger(left, right) { return left > right ? left : right; }

/** A range of numbers as it is given to the caller. */
function rangeOf({ start, end }) { return { start: narrowed(start), end: narrowed(end) }; }

/** What the records of a scope, or of a stream, define: each adds to it. */
class Definitions {
  constructor(options) {
    this.options = options;
    this.symbols = [];
    this.shapes = [];
    this.isBroken = false;
  }

  /** The value of a record, or the error that is in its place. */
  read(message) {
    try {
      if (this.isBroken) throw new StowError("a record before it in its scope has a broken prelude");
      return valueOf(this.open(message));
    } catch (error) {
      return errorOf(error);
    }
  }

  /** A reader before the value of a record, whose prelude is taken in. */
  open(message) {
    const reader = new Reader(message, this.options);
    this.isBroken = true;
    guarded(() => this.takeIn(reader));
    this.isBroken = false;
    return reader;
  }

  takeIn(reader) {
    [reader.symbols, reader.shapes] = [this.symbols, this.shapes];
    if (reader.end === 0 || reader.bytes[0] !== 0x1F) return;
    reader.at = 1;
    reader.readSymbols(this.symbols);
    reader.readShapes(this.shapes);
  }
}

/** What the value of a record is, or the error in its place. */
function valueOf(reader) {
  try {
    return { value: guarded(() => reader.whole()) };
  } catch (error) {
    return errorOf(error);
  }
}

/** An error in the place of a value. There may be many: the calls that led to one would take more memory than its record. */
function errorOf(error) {
  if (!(error instanceof StowError)) throw error;
  error.stack = String(error);
  return { error };
}

function concatenated(parts, length) {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** The segments of a folder, in the order of their numbers, as one log. */
function openSegments(files, options) {
  const names = [...files.keys()].filter(isSegment).sort();
  if (names.length === 0) throw new StowError("the folder has no segments", 0);
  const firsts = names.map((name) => BigInt(name.slice(0, 20)));
  const opened = (index) => new LogReader(bytesOf(files.get(names[index])), options, firsts[index], firsts[index + 1] ?? null);
  const reader = opened(names.length - 1), last = reader.log();
  let identity = identityOf(last);
  // Where the frame is damaged that names its log, that is the one which a segment before it names.
  for (let index = names.length - 2; reader.isOriginDamaged && index >= 0; index--) {
    const origin = segmentOf(null, opened, index)?.origin;
    if (!origin) continue;
    identity = origin.identity;
    break;
  }
  const log = { ...last, first: narrowed(firsts[0]), records: [], lost: [], absent: [], damage: [] };
  for (const [index, name] of names.entries()) {
    const segment = index === names.length - 1 ? last : segmentOf(identity, opened, index);
    for (const record of segment?.records ?? []) log.records.push(record);
    for (const range of segment?.lost ?? [rangeOf({ start: firsts[index], end: firsts[index + 1] })]) log.lost.push(range);
    for (const range of segment?.absent ?? []) log.absent.push(range);
    for (const part of segment?.damage ?? [{ start: 0, end: 0, reason: "head" }]) log.damage.push({ file: name, ...part });
  }
  return log;
}

function isSegment(name) { return /^[0-9]{20}\.stowlog$/.test(name) && BigInt(name.slice(0, 20)) < NUMBER_LIMIT; }

function identityOf({ origin, identity }) { return origin?.identity ?? identity; }

/** An earlier segment of a log, or of any if that is null; null if it is no log, or says that it is one of another. */
function segmentOf(log, opened, index) {
  try {
    const reader = opened(index), segment = reader.log();
    return log === null || reader.isOriginDamaged || identityOf(segment) === log ? segment : null;
  } catch (error) {
    if (error instanceof StowError) return null;
    throw error;
  }
}

/**
 * Everything of a log that is whole.
 *
 * @param {Uint8Array | ArrayBuffer | Map<string, Uint8Array>} source the file, or those of a folder of segments by their names
 * @param {object} [options] see stow.d.ts
 */
export function openLog(source, options = {}) {
  return source instanceof Map ? openSegments(source, options) : new LogReader(bytesOf(source), options).log();
}

// # Streams

/** The preludes of a stream may have so many bytes together until all definitions are forgotten. */
const MOST_DEFINITIONS = 1048576;
const STREAM_HEAD = [0x7F, 0x03, 0x01];

/** Reads the records of a stream whose bytes come in parts. */
export class StreamReader {
  constructor(options = {}) {
    this.options = options;
    this.recordSize = recordSizeOf(options);
    this.definitions = new Definitions(options);
    this.defined = 0;
    this.number = 0;
    this.buffer = new Uint8Array(4096);
    this.start = 0;
    this.end = 0;
    /** The bytes before those in the buffer. */
    this.passed = 0;
    this.hasHead = false;
    this.error = null;
  }

  /** Takes in some bytes, and returns the records that they complete. An error after those is thrown by the next call. */
  push(bytes) {
    if (this.error) throw this.error;
    this.append(bytesOf(bytes));
    const records = [];
    try {
      for (let record = this.next(); record !== null; record = this.next()) records.push(record);
    } catch (error) {
      if (error !== this.error || records.length === 0) throw error;
    }
    return records;
  }

  /** Says that no more bytes come. */
  finish() {
    if (this.error) throw this.error;
    if (this.start < this.end) this.fail("the stream ends within its head or a record", this.end);
  }

  append(bytes) {
    if (this.end + bytes.length > this.buffer.length) {
      const size = this.end - this.start;
      const isSmall = size + bytes.length > this.buffer.length / 2;
      const buffer = isSmall ? new Uint8Array((size + bytes.length) * 2) : this.buffer;
      buffer.set(this.buffer.subarray(this.start, this.end));
      this.passed += this.start;
      [this.buffer, this.start, this.end] = [buffer, 0, size];
    }
    this.buffer.set(bytes, this.end);
    this.end += bytes.length;
  }

  fail(rule, at = this.start) { throw (this.error = new StowError(rule, this.passed + at)); }

  /** The next record; null if it is not complete. */
  next() {
    if (!this.hasHead && !this.takeHead()) return null;
    while (this.start < this.end && this.buffer[this.start] === 0) {
      this.start++;
      this.definitions = new Definitions(this.options);
      this.defined = 0;
    }
    const length = this.length();
    if (length === null || length.value > this.end - length.end - 4) return null;
    const end = length.end + length.value;
    const message = this.buffer.slice(length.end, end);
    const sum = checksum(this.numberBytes(), message);
    if (unsigned(this.buffer, end, 4) !== sum) this.fail("the checksum of a record is wrong");
    const record = this.read(message);
    this.start = end + 4;
    return record;
  }

  takeHead() {
    const begin = this.buffer.subarray(this.start, Math.min(this.end, this.start + 3));
    if (begin.some((byte, index) => byte !== STREAM_HEAD[index])) {
      this.fail("the bytes are no stream, or one of another version");
    }
    if (begin.length < 3) return false;
    this.start += 3;
    return (this.hasHead = true);
  }

  /** The length of the next record, and where it ends; null if it is not there yet. */
  length() {
    if (this.start === this.end) return null;
    const first = this.buffer[this.start];
    const size = uintSizeAt(this.buffer, this.start);
    if (first < 0xFE && this.end - this.start < size) return null;
    const reader = new Reader(this.buffer.subarray(this.start, this.start + size));
    let value;
    try {
      value = reader.uint();
    } catch (error) {
      this.fail(error.rule);
    }
    if (value === 0) this.fail("a length of 0 has more bytes than one");
    if (value > this.recordSize) this.fail(`a record of ${value} bytes is longer than is allowed`);
    return { value, end: this.start + size };
  }

  numberBytes() {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigUint64(0, BigInt(this.number), true);
    return bytes;
  }

  /** A reader before the value of a record, whose prelude is taken in. */
  open(message) {
    let reader;
    try {
      reader = this.definitions.open(message);
    } catch (error) {
      this.fail(`the prelude of a record is broken: ${error.message}`);
    }
    this.defined += reader.at;
    if (this.defined > MOST_DEFINITIONS) this.fail("the preludes of the records have too many bytes");
    this.number++;
    return reader;
  }

  read(message) {
    const number = this.number;
    return { number, ...valueOf(this.open(message)) };
  }
}

/**
 * The records of a stream that is all there.
 *
 * @param {Uint8Array | ArrayBuffer} bytes
 * @param {object} [options] see stow.d.ts
 */
export function* readStream(bytes, options = {}) {
  const reader = new StreamReader(options);
  yield* reader.push(bytes);
  reader.finish();
}

/**
 * The records of a stream whose bytes come in parts, each as soon as it is complete.
 *
 * @param {ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | Iterable<Uint8Array>} chunks
 * @param {object} [options] see stow.d.ts
 */
export async function* readStreamFrom(chunks, options = {}) {
  const reader = new StreamReader(options);
  if (!chunks[Symbol.asyncIterator] && chunks.getReader) chunks = chunksOf(chunks);
  for await (const chunk of chunks) yield* reader.push(chunk);
  reader.finish();
}

/** What a ReadableStream holds, in browsers in which it cannot be iterated. */
async function* chunksOf(stream) {
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel();
  }
}

// # Paths

/** A step of a path: to all elements of an array, or all values of an object. */
export const each = Symbol("each");

const PLAIN_KEY = /[\p{XID_Start}_][\p{XID_Continue}-]*/uy;
const QUOTED_KEY = /\["((?:[^"\\]|\\["\\nrt]|\\u\{[0-9A-Fa-f]{1,8}\})*)"\]/uy;
/** Of no more digits than a number holds exactly. */
const INDEX = /\[(0|-?[1-9][0-9]{0,14})\]/y;
const ESCAPES = { '"': '"', "\\": "\\", n: "\n", r: "\r", t: "\t" };

/** The steps that a text says: `people[3].name`, `people[]["a b"]`. */
export function parsePath(text) {
  const steps = [];
  let at = 0;
  const match = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at = pattern.lastIndex;
    return found;
  };
  while (at < text.length) {
    let found;
    if (text.startsWith("[]", at)) {
      at += 2;
      steps.push(each);
    } else if ((found = match(QUOTED_KEY))) steps.push(unescaped(found[1]));
    else if ((found = match(INDEX))) steps.push(Number(found[1]));
    else {
      if (steps.length > 0 && text[at++] !== ".") throw new StowError(`“${text}” is no path`);
      found = match(PLAIN_KEY);
      if (!found) throw new StowError(`“${text}” is no path`);
      steps.push(found[0]);
    }
  }
  return steps;
}

function unescaped(text) {
  return text.replace(/\\(?:u\{(.*?)\}|(.))/gu, (_, digits, letter) => {
    if (letter !== undefined) return ESCAPES[letter];
    const scalar = parseInt(digits, 16);
    const isCharacter = scalar <= 0x10FFFF && (scalar < 0xD800 || scalar > 0xDFFF);
    if (!isCharacter) throw new StowError(`\\u{${digits}} is no character`);
    return String.fromCodePoint(scalar);
  });
}

function isEmptyObject(value) {
  return value instanceof Map || (typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype);
}

/**
 * The value at the end of a path, of which only what leads to it is read; undefined if nothing is there.
 *
 * @param {Uint8Array | ArrayBuffer} bytes a message
 * @param {string | (string | number | symbol)[]} path
 * @param {object} [options] see stow.d.ts
 */
export function at(bytes, path, options = {}) {
  const steps = typeof path === "string" ? parsePath(path) : [...path];
  if (!steps.every((step) => typeof step === "string" || step === each || Number.isSafeInteger(step))) {
    throw new StowError("a step of a path is a key, an index or each");
  }
  return guarded(() => new PathReader(readerOf(bytes, options), steps).value(0));
}

class PathReader {
  constructor(reader, steps) {
    this.reader = reader;
    this.steps = steps;
  }

  /** What the steps from `index` on find in the value that the reader stands before. */
  value(index) {
    const { reader } = this;
    if (index === this.steps.length) return reader.value();
    const start = reader.at;
    const tag = reader.byte();
    if (tag === 0x00 || tag === 0x7C) return undefined;
    if (tag === 0x70) return this.inside(reader.uint(), () => this.array(index));
    if (tag === 0x71) return this.inside(reader.uint(), () => this.map(index));
    if (tag >= 0xC0 && tag < 0xE0) return this.inside(tag - 0xC0, () => this.map(index));
    if (tag >= 0xE0 && tag < 0xF0) return this.inside(tag - 0xE0, () => this.array(index));
    if (tag === 0x72 || tag === 0x73 || tag >= 0xF0) return this.record(tag, index);
    if (tag === 0x74 || tag === 0x75) return this.packed(start, tag, index);
    if (tag === 0x7A || tag === 0x7B) return this.rows(tag === 0x7A, index);
    return this.noContainer(start);
  }

  noContainer(start) { this.reader.fail("the path goes on where there is neither an array nor an object", start); }

  inside(length, body) {
    const outer = this.reader.enter(length);
    const value = body();
    this.reader.leave(outer);
    return value;
  }

  /** The key that a step says of an object: an index is the key of these digits. */
  keyOf(step) { return typeof step === "string" ? step : String(step); }

  array(index) {
    const { reader } = this;
    const step = this.steps[index];
    if (step === each) return this.eachUntilEnd(index);
    if (typeof step === "string") this.noContainer(reader.at - 1);
    if (step < 0) return undefined;
    for (let count = 0; reader.at < reader.end; count++) {
      if (count === step) return this.value(index + 1);
      reader.skip();
    }
    return undefined;
  }

  /** What is found in each value up to the end of the container. */
  eachUntilEnd(index) {
    const values = [];
    while (this.reader.at < this.reader.end) this.reader.fitting(values.push(this.valueAndSkip(index + 1)));
    return values;
  }

  /** The same as `value`, and then the reader stands after it all. */
  valueAndSkip(index) {
    const { reader } = this;
    if (index === this.steps.length) return reader.value();
    const start = reader.at;
    reader.skip();
    const end = reader.at;
    reader.at = start;
    const { end: outer, depth } = reader;
    const value = this.value(index);
    [reader.at, reader.end, reader.depth] = [end, outer, depth];
    return value;
  }

  map(index) {
    const { reader } = this;
    const step = this.steps[index];
    if (step === each) return this.eachEntry(index);
    const wanted = this.keyOf(step);
    const places = new Map();
    while (reader.at < reader.end) {
      const start = reader.at;
      const key = reader.key();
      if (places.has(key)) reader.fail("a map has a key twice", start);
      places.set(key, reader.at);
      if (places.size === 1 && key === wanted) break;
      reader.skip();
    }
    if (!places.has(wanted)) return undefined;
    reader.at = places.get(wanted);
    return this.value(index + 1);
  }

  eachEntry(index) {
    const { reader } = this;
    const keys = new Set(), values = [];
    while (reader.at < reader.end) {
      const start = reader.at;
      const key = reader.key();
      if (keys.has(key)) reader.fail("a map has a key twice", start);
      keys.add(key);
      values.push(this.valueAndSkip(index + 1));
    }
    return values;
  }

  record(tag, index) {
    const { reader } = this;
    const isPartial = tag === 0x73 || tag >= 0xF8;
    const { keys } = reader.shapeAt(tag < 0xF0 ? reader.uint() : (tag - 0xF0) % 8);
    return this.inside(reader.uint(), () => this.fields(isPartial ? reader.presentKeys(keys) : keys, index));
  }

  fields(keys, index) {
    const { reader } = this;
    const step = this.steps[index];
    const wanted = step === each ? -1 : keys.indexOf(this.keyOf(step));
    const values = [];
    if (keys.length === 0 && reader.at < reader.end) reader.fail("a record has more values than presence bits");
    for (let place = 0; place < keys.length; place++) {
      const isLast = place === keys.length - 1;
      if (place === wanted && !isLast) return this.value(index + 1);
      const value = step === each || place === wanted ? this.valueAndSkip(index + 1) : reader.skip();
      if (isLast && reader.at < reader.end) reader.fail("a record has more values than keys");
      if (place === wanted) return value;
      values.push(value);
    }
    return step === each ? values : undefined;
  }

  /** Elements of a packed array: what is no array with elements of one size is read whole. */
  packed(start, tag, index) {
    const { reader } = this;
    const step = this.steps[index];
    if (typeof step === "string") this.noContainer(start);
    const { outer } = reader.body();
    const type = tag === 0x75 ? 0x09 : reader.byte();
    const size = type === 0x0B || type === 0x0F ? 0 : ELEMENT_SIZES[type];
    if (step !== each && size > 0) return this.scalar(this.element(type, size, step), index + 1, start);
    reader.at = start;
    reader.end = outer;
    const elements = reader.value();
    if (step !== each) return this.scalar(elements[step], index + 1, start);
    return elements.map((element) => this.scalar(element, index + 1, start));
  }

  element(type, size, step) {
    const { reader } = this;
    const base = isOffset(type) ? reader.base() : 0;
    const left = reader.end - reader.at;
    if (left % size !== 0) reader.fail(`elements of ${size} bytes do not fill ${left} bytes`);
    return step >= 0 && step < left / size ? reader.cell(type, reader.at + step * size, base) : undefined;
  }

  /** A value that has nothing in it: where more steps follow, they lead to nothing, or do not fit. */
  scalar(value, index, start) {
    if (index === this.steps.length || value === undefined) return value;
    if (value === null || value instanceof NestedNil) return undefined;
    const isObject = isEmptyObject(value);
    if (!isObject && (!Array.isArray(value) || typeof this.steps[index] === "string")) this.noContainer(start);
    return this.steps[index] === each ? [] : undefined;
  }

  rows(isTable, index) {
    const { reader } = this;
    const start = reader.at - 1;
    reader.body();
    const number = reader.uint();
    if (!isTable && number === 0) reader.fail("a matrix has no columns", start);
    const keys = isTable ? reader.shapeAt(number) : null;
    const layout = reader.layout(isTable ? keys.keys.length : reader.fitting(number));
    const step = this.steps[index];
    if (typeof step === "string") this.noContainer(start);
    if (step === each) return Array.from({ length: reader.fitting(layout.rows) }, (_, row) => this.row(layout, keys, row, index + 1));
    return step >= 0 && step < layout.rows ? this.row(layout, keys, step, index + 1) : undefined;
  }

  row(layout, shape, row, index) {
    const { reader } = this;
    if (index === this.steps.length) {
      return shape
        ? reader.tableRow(layout, shape.keys, reader.constructorOf(shape), row) : reader.matrixRow(layout, row);
    }
    const step = this.steps[index];
    const inside = (cell) => this.scalar(cell, index + 1, layout.start);
    if (step === each) return reader.matrixRow(layout, row).map(inside);
    if (!shape && typeof step === "string") this.noContainer(layout.start);
    const column = shape ? shape.keys.indexOf(this.keyOf(step)) : step;
    return column >= 0 && column < layout.count ? inside(reader.cellOf(layout, column, row)) : undefined;
  }
}

// # All bytes and what they mean

/** Parts of more bytes are kept once they are made, so that what is nested in them is looked for once; of long leaves the last one. */
const KEPT = 4096;

/**
 * Some bytes, what they mean, and the parts that are nested in them. Those are made when they are asked for, and small ones
 * each time anew, so that the memory is that of what is looked at.
 */
export class Part {
  #open = null;
  #nested = null;
  #kept = null;
  /** The last long leaf that was asked for, which often is the next one, too. */
  #last = null;
  #lastIndex = -1;

  constructor(source, start, end, until, kind, text, value) {
    /** What made the part. The offsets are those of its bytes, which for packed records are not those of the file. */
    this.source = source;
    this.start = start;
    this.end = end;
    this.until = until;
    this.kind = kind;
    this.text = text;
    this.value = value;
    /** The step of a path that leads here from the part around: a key or an index; null if it is no value there. */
    this.step = null;
    /** The key before the value of an entry of a map. */
    this.before = null;
    /** What is wrong with these bytes; null if nothing is, as far as one can see without what is nested. */
    this.error = null;
    /** How many arrays and objects are around what is nested here. */
    this.level = 0;
  }

  get bytes() { return this.source.bytes; }
  /** Whether nothing can be nested here. */
  get isLeaf() { return this.#open === null; }
  /** Whether it is a value of a message, or a row of one. */
  get isValue() { return !this.isLeaf && VALUE_KINDS.has(this.kind); }
  get first() { return this.before ? this.before.start : this.start; }
  get count() { return this.nested?.count ?? 0; }

  /** One of the parts that are nested here. */
  part(index) {
    const kept = index === this.#lastIndex ? this.#last : this.#kept?.get(index);
    if (kept) return kept;
    const part = this.nested.part(index);
    if (part.until - part.start > KEPT) {
      if (part.isLeaf) [this.#last, this.#lastIndex] = [part, index];
      else (this.#kept ??= new Map()).set(index, part);
    }
    return part;
  }

  get nested() {
    if (this.#nested === null && this.#open !== null) this.#nested = this.#open(this);
    return this.#nested;
  }

  /** Says how to find what is nested. */
  opens(open) {
    this.#open = open;
    return this;
  }

  /** The index of the nested part that has the byte at an offset; −1 if none has it. */
  indexAt(offset) {
    if (offset < this.end || offset >= this.until || this.count === 0) return -1;
    let low = 0, high = this.count;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.nested.startOf(middle) <= offset) low = middle;
      else high = middle;
    }
    return low;
  }

  /** The index of the nested part to which a step of a path leads; −1 if there is none. */
  indexOf(step) { return this.nested?.indexOf(step) ?? -1; }

  /** The value, with all that is in it. */
  read() {
    if (this.value !== undefined) return this.value;
    if (this.error) throw this.error;
    if (this.kind === "message") return this.part(this.nested.main).read();
    if (!VALUE_KINDS.has(this.kind)) throw new StowError(`no value: ${this.text}`, this.start);
    return this.source.read(this);
  }
}

const VALUE_KINDS = new Set(["array", "map", "record", "partial record", "packed array", "table", "matrix", "row", "url"]);

/** What is nested in a part: some parts in front, values that are made of where they start, and perhaps a fault. */
class Nested {
  /** @param {number[] | { count: number, startOf: Function }} places where the values are */
  constructor(fronts, places, make, rest = null, keys = null) {
    this.fronts = fronts;
    this.values = Array.isArray(places) ? places.length : places.count;
    this.place = Array.isArray(places) ? (index) => places[index] : places.startOf;
    this.make = make;
    this.rest = rest;
    this.keys = keys;
    /** How many elements a part stands for. */
    this.elements = 1;
    /** The index of the value of a message. */
    this.main = 0;
  }

  get count() { return this.fronts.length + this.values + (this.rest ? 1 : 0); }

  startOf(index) {
    if (index < this.fronts.length) return this.fronts[index].first;
    const value = index - this.fronts.length;
    return value < this.values ? this.place(value) : this.rest.start;
  }

  part(index) {
    if (index < this.fronts.length) return this.fronts[index];
    const value = index - this.fronts.length;
    return value < this.values ? this.make(value) : this.rest;
  }

  indexOf(step) {
    if (this.keys === null && typeof step === "string") return -1;
    const value = this.keys ? this.keys.indexOf(String(step)) : Math.floor(step / this.elements);
    return value >= 0 && value < this.values ? value + this.fronts.length : -1;
  }
}

/** Finds the parts of a message, which is some of the bytes. */
class Outline extends Reader {
  constructor(bytes, options, start = 0, end = bytes.length) {
    super(bytes, { ...options, exact: true });
    this.options = options;
    this.from = start;
    this.until = end;
    /** How many symbols and shapes there are, where those of later records follow them; null if all are. */
    this.limits = null;
  }

  symbol(number) {
    if (this.limits && number >= this.limits.symbol) this.fail(`symbol ${number} does not exist`, this.at - 1);
    return super.symbol(number);
  }

  shapeAt(number) {
    if (this.limits && number >= this.limits.shape) this.fail(`shape ${number} does not exist`, this.at - 1);
    return super.shapeAt(number);
  }

  /** Returns what `body` makes of the bytes from an offset on, or a fault in its place. */
  attempt(start, limit, level, body) {
    [this.at, this.end, this.depth] = [start, limit, level];
    try {
      return body();
    } catch (error) {
      return this.fault(start, limit, error);
    }
  }

  /** The part of bytes that break a rule. */
  fault(start, end, error) {
    if (isNoRoom(error)) error = new StowError(NO_ROOM, start);
    if (!(error instanceof StowError)) throw error;
    const part = new Part(this, start, end, end, "fault", error.rule);
    part.error = error;
    return part;
  }

  /** The part of some bytes that begin at an offset and end where the reader stands. */
  leaf(start, kind, text, value) { return new Part(this, start, this.at, this.at, kind, text, value); }

  leafOf(start, size, kind, text, value) { return new Part(this, start, start + size, start + size, kind, text, value); }

  // ## The message

  /** The parts of the message: those in front, and its value. */
  messageParts() {
    const parts = [];
    [this.at, this.end, this.depth] = [this.from, this.until, 0];
    try {
      this.takeFronts(parts);
    } catch (error) {
      const nested = new Nested(parts, [], null);
      nested.main = parts.push(this.fault(parts.at(-1)?.until ?? this.from, this.until, error)) - 1;
      return nested;
    }
    const value = this.valuePart(this.at, this.until, 0);
    const nested = new Nested(parts, [], null);
    nested.main = parts.push(value) - 1;
    if (value.until < this.until) {
      const error = new StowError("there is something after the value", value.until);
      parts.push(this.fault(value.until, this.until, error));
    }
    return nested;
  }

  takeFronts(parts) {
    const { contexts = [], context } = this.options;
    if (this.from === 0 && !this.limits) this.context(contexts, context);
    if (this.at > this.from) {
      parts.push(this.leafOf(0, 2, "context", "relies on a context"));
      parts.push(this.leafOf(2, 4, "context", `its id: ${idText(unsigned(this.bytes, 2, 4))}`));
    }
    if (this.at >= this.end || this.bytes[this.at] !== 0x1F) return;
    const start = this.at++;
    if (!this.limits) {
      [this.symbols, this.shapes] = [this.symbols.slice(), this.shapes.slice()];
      this.limits = { symbol: this.symbols.length, shape: this.shapes.length };
    }
    this.definitions(parts, start, "symbol", this.symbols, () => this.symbolText(), (at, index) => this.symbolPart(at, index));
    this.definitions(parts, this.at, "shape", this.shapes, () => this.shape(), (at, index) => this.shapePart(at, index));
  }

  /** Takes in symbols or shapes: a part for all of them is there also if one is broken. */
  definitions(parts, start, noun, known, read, make) {
    const count = this.fitting(this.uint());
    const starts = [], first = this.limits[noun];
    const part = this.leaf(start, "prelude", `${noun === "symbol" ? "prelude, " : ""}${counted(count, noun)}`);
    parts.push(part.opens(() => new Nested([], starts, (index) => make(starts[index], first + index))));
    while (starts.length < count) {
      const at = this.at;
      // Those of a record are there already, in the same places.
      known[this.limits[noun]] = read();
      this.limits[noun]++;
      starts.push(at);
      part.until = this.at;
    }
  }

  symbolPart(start, number) {
    const symbol = this.symbols[number];
    return this.attempt(start, this.until, 0, () => {
      this.keyText();
      return this.leaf(start, "symbol", `symbol ${number}: ${quoted(symbol)}`, symbol);
    });
  }

  shapePart(start, number) {
    return this.attempt(start, this.until, 0, () => {
      const { keys } = this.shape();
      const until = this.at;
      this.at = start;
      this.uint();
      const part = this.leaf(start, "shape", `shape ${number}: ${counted(keys.length, "key")}`, keys);
      part.until = until;
      return part.opens(() => this.keysOf(part));
    });
  }

  keysOf(part) {
    const starts = [];
    [this.at, this.end] = [part.end, part.until];
    while (this.at < part.until) {
      starts.push(this.at);
      this.key();
    }
    return new Nested([], starts, (index) => this.attempt(starts[index], part.until, 0, () => this.keyPart()));
  }

  keyPart() {
    const start = this.at;
    const key = this.key();
    return this.leaf(start, "key", quoted(key), key);
  }

  // ## Values

  /** The part of the value at an offset; of what is broken, a fault. */
  valuePart(start, limit, level, step = null) {
    const part = this.attempt(start, limit, level, () => this.valueHere(start, limit, level));
    if (part.kind === "fault") part.until = part.end = this.endOfValue(start, limit);
    part.step = step;
    return part;
  }

  /** Where a value ends that cannot be read: the end of all that is around it if it cannot be skipped either. */
  endOfValue(start, limit) {
    [this.at, this.end] = [start, limit];
    try {
      this.skip();
      return this.at;
    } catch {
      return limit;
    }
  }

  valueHere(start, limit, level) {
    if (start >= limit) this.fail("a value is wanted where no byte is left");
    const tag = this.byte();
    if (tag === 0x70 || (tag >= 0xE0 && tag < 0xF0)) return this.arrayHere(start, tag, level);
    if (tag === 0x71 || (tag >= 0xC0 && tag < 0xE0)) return this.mapHere(start, tag, level);
    if (tag === 0x72 || tag === 0x73 || tag >= 0xF0) return this.recordHere(start, tag, level);
    if (tag === 0x74 || tag === 0x75) return this.packedHere(start, tag);
    if (tag === 0x7A || tag === 0x7B) return this.rowsHere(start, tag === 0x7A);
    if (tag === 0x1A) return this.urlHere(start);
    this.at = start;
    const value = this.value();
    const kind = scalarKind(tag);
    return this.leaf(start, kind, `${kind}: ${shown(value)}`, value);
  }

  urlHere(start) {
    const at = this.at;
    const value = new StowURL(this.stringValue());
    const part = new Part(this, start, at, this.at, "url", "URL", value);
    return part.opens(() => new Nested([this.valuePart(at, part.until, 0)], [], null));
  }

  /** The part whose head was just read, and in which so many bytes are nested, as far as they are there. */
  container(start, length, kind, text, level) {
    const left = this.end - this.at;
    if (level > this.deepest) this.fail(`there are more than ${this.deepest} levels`, start);
    const part = new Part(this, start, this.at, this.at + Math.min(length, left), kind, text);
    if (length > left) part.error = new StowError(`a length of ${length} goes beyond what is around it`, this.at);
    part.level = level;
    return part;
  }

  arrayHere(start, tag, level) {
    const length = tag === 0x70 ? this.uint() : tag - 0xE0;
    const part = this.container(start, length, "array", `array of ${counted(length, "byte")}`, level + 1);
    return part.opens(() => {
      const starts = [];
      let rest = null;
      this.reach(part, part.end, () => {
        while (this.at < this.end) {
          if (starts.length === MOST_ELEMENTS) {
            rest = this.fault(this.at, part.until, new StowError(`the elements are ${TOO_MANY}`, this.at));
            return;
          }
          starts.push(this.at);
          this.skip();
        }
      });
      return new Nested([], starts, (index) => this.valuePart(starts[index], part.until, part.level, index), rest);
    });
  }

  /** Goes over what is nested in a part as far as it can be skipped, and returns whether that is to the end. */
  reach(part, at, body) {
    [this.at, this.end] = [at, part.until];
    try {
      body();
      return true;
    } catch (error) {
      if (!(error instanceof StowError)) throw error;
      return false;
    }
  }

  mapHere(start, tag, level) {
    const length = tag === 0x71 ? this.uint() : tag - 0xC0;
    const part = this.container(start, length, "map", `map of ${counted(length, "byte")}`, level + 1);
    return part.opens(() => {
      const starts = [], keys = new Set();
      let rest = null;
      this.reach(part, part.end, () => {
        while (this.at < this.end) {
          const at = this.at;
          starts.push(at);
          const key = this.key();
          if (keys.has(key)) {
            starts.pop();
            rest = this.fault(at, part.until, new StowError("a map has a key twice", at));
            return;
          }
          try {
            keys.add(key);
          } catch (error) {
            // Of some 17 million keys, V8 takes no more.
            starts.pop();
            rest = this.fault(at, part.until, error);
            return;
          }
          this.skip();
        }
      });
      const make = (index) => this.entryPart(starts[index], part);
      return new Nested([], starts, make, rest, [...keys]);
    });
  }

  entryPart(start, around) {
    const key = this.attempt(start, around.until, around.level, () => this.keyPart());
    if (key.error) return key;
    const part = this.valuePart(key.end, around.until, around.level, key.value);
    part.before = key;
    return part;
  }

  recordHere(start, tag, level) {
    const isPartial = tag === 0x73 || tag >= 0xF8;
    const number = tag < 0xF0 ? this.uint() : (tag - 0xF0) % 8;
    const { keys } = this.shapeAt(number);
    const length = this.uint();
    const kind = isPartial ? "partial record" : "record";
    const text = `${kind} of shape ${number}, ${counted(length, "byte")}`;
    const part = this.container(start, length, kind, text, level + 1);
    return part.opens(() => (isPartial ? this.partialParts(part, keys) : this.fieldParts(part, part.end, keys, [])));
  }

  partialParts(part, keys) {
    const front = this.attempt(part.end, part.until, part.level, () => {
      const present = this.presentKeys(keys);
      return this.leaf(part.end, "presence", `present: ${present.map(quoted).join(", ")}`, present);
    });
    return front.error ? new Nested([front], [], null) : this.fieldParts(part, front.end, front.value, [front]);
  }

  fieldParts(part, at, keys, fronts) {
    const starts = [];
    const isWhole = this.reach(part, at, () => {
      for (let index = 0; index < keys.length; index++) {
        starts.push(this.at);
        this.skip();
      }
    });
    const rule = `a record has more values than ${fronts.length > 0 ? "presence bits" : "keys"}`;
    const isMore = isWhole && this.at < part.until;
    const rest = isMore ? this.fault(this.at, part.until, new StowError(rule, this.at)) : null;
    const make = (index) => this.valuePart(starts[index], part.until, part.level, keys[index]);
    return new Nested(fronts, starts, make, rest, keys);
  }

  // ## Packed arrays

  packedHere(start, tag) {
    const length = this.uint();
    const bodyAt = this.at;
    const part = this.container(start, length, "packed array", `packed array of ${counted(length, "byte")}`, 0);
    let type = 0x09;
    if (tag === 0x74) {
      if (part.until === bodyAt) this.fail("a packed array has no element type");
      type = this.byte();
      part.end = this.at;
    }
    part.text += `, ${typeText(type)}`;
    part.elementType = type;
    return part.opens(() => this.elementParts(part, type));
  }

  elementParts(part, type) {
    const size = type === 0x0B || type === 0x0F ? 0 : ELEMENT_SIZES[type];
    if (size > 0) return this.sizedParts(part, type, size);
    let elements = [];
    const broken = this.attempt(part.end, part.until, 0, () => {
      elements = this.elements(type, part.end - 1);
      if (this.at < this.end) this.fail("there is something after the elements of a packed array");
      return null;
    });
    if (broken) return new Nested([], [], null, broken);
    if (type === 0x0C) return this.bitParts(part, elements);
    return type === 0x0D || type === 0x0E ? this.widthParts(part, elements) : this.differenceParts(part, type, elements);
  }

  /** Elements of one size, of which each is found by its index. */
  sizedParts(part, type, size) {
    const fronts = [];
    let at = part.end, base = 0;
    if (isOffset(type)) {
      const front = this.attempt(at, part.until, 0, () => this.basePart());
      if (front.error) return new Nested([front], [], null);
      [at, base] = [front.end, front.value];
      fronts.push(front);
    }
    const count = Math.floor((part.until - at) / size);
    const startOf = (index) => at + index * size;
    const end = startOf(count);
    const rule = `elements of ${size} bytes do not fill ${part.until - at} bytes`;
    const rest = end < part.until ? this.fault(end, part.until, new StowError(rule, end)) : null;
    return new Nested(fronts, { count, startOf }, (index) => this.cellPart(startOf(index), size, index, type, base), rest);
  }

  cellPart(start, size, step, type, base) {
    const part = this.attempt(start, start + size, 0, () => {
      return this.elementPart(start, size, this.cell(type, start, base), step);
    });
    part.step = step;
    return part;
  }

  elementPart(start, size, value, step) {
    const part = this.leafOf(start, size, "element", shown(value), value);
    part.step = step;
    return part;
  }

  basePart() {
    const start = this.at;
    const base = this.base();
    return this.leaf(start, "base", `base: ${shown(base)}`, base);
  }

  bitParts(part, elements) {
    const at = part.end;
    const front = this.leafOf(at, 1, "width", counted(this.bytes[at], "unused bit"), this.bytes[at]);
    const startOf = (index) => at + 1 + index;
    const nested = new Nested([front], { count: (elements.length + 7) >> 3, startOf }, (index) => {
      const eight = elements.slice(index * 8, index * 8 + 8);
      const byte = this.elementPart(startOf(index), 1, eight, index * 8);
      byte.text = eight.join(" ");
      return byte;
    });
    nested.elements = 8;
    return nested;
  }

  widthParts(part, elements) {
    this.at = part.end;
    const count = this.uint();
    const first = this.leaf(part.end, "width", counted(count, "element"), count);
    const at = this.at;
    const widthOf = (index) => (this.bytes[at + (index >> 1)] >> ((index & 1) * 4)) & 0x0F;
    const widths = this.leafOf(at, (count + 1) >> 1, "width", `widths of ${counted(count, "element")}`);
    const starts = [];
    let next = widths.end;
    for (let index = 0; index < count; index++) {
      starts.push(next);
      next += widthOf(index);
    }
    const fronts = count > 0 ? [first, widths] : [first];
    const make = (index) => this.elementPart(starts[index], widthOf(index), elements[index], index);
    return new Nested(fronts, starts, make);
  }

  differenceParts(part, type, elements) {
    const at = part.end, width = type - 0xB0, first = this.bytes[at];
    const front = this.leafOf(at, 1, "width", `width of the first element: ${first}`, first);
    const startOf = (index) => (index === 0 ? at + 1 : at + 1 + first + (index - 1) * width);
    const make = (index) => this.elementPart(startOf(index), index === 0 ? first : width, elements[index], index);
    return new Nested([front], { count: elements.length, startOf }, make);
  }

  // ## Tables and matrices

  rowsHere(start, isTable) {
    const length = this.uint();
    const kind = isTable ? "table" : "matrix";
    const part = this.container(start, length, kind, `${kind} of ${counted(length, "byte")}`, 0);
    return part.opens(() => this.rowParts(part, isTable));
  }

  rowParts(part, isTable) {
    const fronts = [];
    let keys = null;
    const { rowLayout } = this;
    rowLayout.stride = 0;
    const fault = this.attempt(part.end, part.until, 0, () => {
      const number = this.uint();
      if (!isTable && number === 0) this.fail("a matrix has no columns", part.end);
      if (isTable) keys = this.shapeAt(number).keys;
      fronts.push(this.leaf(part.end, "columns", isTable ? `rows of shape ${number}` : counted(number, "column"), number));
      this.layout(keys ? keys.length : number);
      return null;
    });
    if (fault && rowLayout.stride === 0) {
      const at = fronts[0]?.end ?? part.end;
      return new Nested(fronts, [], null, this.fault(at, part.until, fault.error));
    }
    const layout = { ...rowLayout, bases: rowLayout.bases.slice(), constants: rowLayout.constants.slice(), keys };
    this.columnParts(layout, fronts);
    const { start, stride, rows } = layout;
    const startOf = (row) => start + row * stride;
    const broken = fault && this.fault(startOf(rows), part.until, fault.error);
    const types = [...this.bytes.subarray(layout.types, layout.types + layout.count)];
    const offsets = [];
    types.reduce((offset, type, column) => ((offsets[column] = offset), offset + ELEMENT_SIZES[type]), 0);
    const make = (row) => this.rowPart(startOf(row), row, layout, types, offsets);
    return new Nested(fronts, { count: rows, startOf }, make, broken);
  }

  columnParts({ types, count, bases, constants, keys }, fronts) {
    const name = (column) => (keys ? `${quoted(keys[column])}: ` : "");
    for (let column = 0; column < count; column++) {
      const type = this.bytes[types + column];
      fronts.push(this.leafOf(types + column, 1, "column", name(column) + typeText(type), type));
    }
    [this.at, this.end] = [types + count, this.until];
    for (let column = 0; column < count; column++) {
      const type = this.bytes[types + column], start = this.at;
      if (isOffset(type)) fronts.push(this.basePart());
      if (type !== 0) continue;
      this.constant();
      fronts.push(this.leaf(start, "constant", `${name(column)}in every row ${shown(constants[column])}`, constants[column]));
    }
  }

  rowPart(start, row, layout, types, offsets) {
    const until = start + layout.stride;
    const part = new Part(this, start, start, until, "row", `row of ${counted(layout.stride, "byte")}`);
    part.step = row;
    part.layout = layout;
    const startOf = (column) => start + offsets[column];
    return part.opens(() => new Nested([], { count: layout.count, startOf }, (column) => {
      const type = types[column], step = layout.keys ? layout.keys[column] : column;
      if (type !== 0) return this.cellPart(startOf(column), ELEMENT_SIZES[type], step, type, layout.bases[column]);
      const value = layout.constants[column];
      const cell = this.leafOf(startOf(column), 0, "constant", `in every row ${shown(value)}`, value);
      cell.step = step;
      return cell;
    }, null, layout.keys));
  }

  // ## Whole values

  read(part) {
    return guarded(() => {
      if (part.kind === "row") return this.readRow(part);
      [this.at, this.end, this.depth] = [part.start, part.until, Math.max(0, part.level - 1)];
      return this.value();
    });
  }

  readRow(part) {
    const cells = Array.from({ length: part.count }, (_, column) => part.part(column).read());
    const { keys } = part.layout;
    if (!keys) return cells;
    const object = this.newObject();
    keys.forEach((key, column) => this.set(object, key, cells[column]));
    return object;
  }
}

// ## Logs

const FRAME_KINDS = [
  "", "records", "the first part of a group", "a middle part of a group", "the last part of a group",
  "records of a new scope", "the origin", "records, some packed", "records of a new scope, some packed", "a checkpoint",
  "a group that was given up", "a note",
];

/** Finds the parts of a log: its blocks, and in each the frames and their records. */
class LogOutline {
  constructor(bytes, options) {
    this.bytes = bytes;
    this.options = { ...options, exact: true };
    this.log = null;
    this.reader = new Reader(bytes);
  }

  part(start, end, until, kind, text, value) { return new Part(this, start, end, until, kind, text, value); }

  fault(start, end, rule) {
    const part = this.part(start, end, end, "fault", rule);
    part.error = new StowError(rule, start);
    return part;
  }

  root() {
    const { bytes } = this;
    const count = Math.ceil(bytes.length / BLOCK_SIZE);
    const root = this.part(0, 0, bytes.length, "log", `log of ${counted(count, "block")}`);
    try {
      this.log = new LogReader(bytes, this.options);
    } catch (error) {
      if (!(error instanceof StowError)) throw error;
      return root.opens(() => new Nested([this.fault(0, bytes.length, error.rule)], [], null));
    }
    const startOf = (index) => index * BLOCK_SIZE;
    return root.opens(() => new Nested([], { count, startOf }, (index) => this.blockPart(index)));
  }

  blockPart(index) {
    const start = index * BLOCK_SIZE, until = Math.min(start + BLOCK_SIZE, this.bytes.length);
    const part = this.part(start, start, until, "block", `block ${index}`);
    return part.opens(() => this.partsOfBlock(index, start, until));
  }

  /** The head, the frames, and what is between them. */
  partsOfBlock(index, start, until) {
    const block = this.log.block(index);
    if (!block) return new Nested([this.fault(start, until, "neither a head nor a frame is whole")], [], null);
    const parts = block.firstRecord === null
      ? [this.fault(start, start + HEAD_SIZE, "the head of the block is damaged")] : this.headParts(start);
    const isRead = new Map();
    let at = start + HEAD_SIZE;
    const gap = (end) => {
      if (end === at) return;
      const isZero = this.bytes.subarray(at, end).every((byte) => byte === 0);
      parts.push(isZero && end === until
        ? this.part(at, end, end, "padding", "zeros") : this.fault(at, end, "no frame is whole here"));
    };
    for (const frame of block.frames) {
      gap(frame.start);
      parts.push(this.framePart(frame, block, isRead));
      at = frame.end;
    }
    gap(until);
    return new Nested(parts, [], null);
  }

  headParts(start) {
    const { bytes } = this;
    const head = (offset, size, kind, text) => {
      return this.part(start + offset, start + offset + size, start + offset + size, kind, text);
    };
    return [
      head(0, 4, "head", `log, version ${bytes[start + 2]}`), head(4, 4, "checksum", "checksum of the head"),
      head(8, 8, "head", `identity: ${hex(bytes.subarray(start + 8, start + 16))}`),
      head(16, 8, "head", `the first record is ${wide(bytes, start + 16, 8)}`),
      head(24, 4, "head", `block ${unsigned(bytes, start + 24, 4)}`),
      head(28, 4, "head", `${counted(unsigned(bytes, start + 28, 4), "block")} on the disk for good`),
    ];
  }

  framePart(frame, block, isRead) {
    const { start, end, kind, records, isTaken } = frame;
    const head = start + FRAME_HEAD_SIZE;
    const name = FRAME_KINDS[kind];
    const part = this.part(start, start, end, "frame", records ? counted(records.parts.length, "record") : name);
    if (!isTaken) part.error = new StowError("the frame cannot be read where it stands", start);
    return part.opens(() => {
      const fronts = [
        this.part(start, start + 4, start + 4, "checksum", "checksum of the frame"),
        this.part(start + 4, start + 6, start + 6, "length", `a payload of ${counted(end - head, "byte")}`),
        this.part(start + 6, head, head, "frame", `kind ${byteText(kind)}: ${name}`),
      ];
      if (records) return this.recordParts(records, fronts, head, isRead);
      return this.payload(fronts, frame, head, block);
    });
  }

  /** The payload of a frame that holds no whole record. */
  payload(fronts, { kind, end, isTaken }, at, block) {
    if (kind === ORIGIN) return new Nested([...fronts, this.part(at, end, end, "head", "identity of the log, and when it was begun")], [], null);
    [this.reader.at, this.reader.end] = [at, end];
    const front = (kind, text) => {
      fronts.push(this.part(at, this.reader.at, this.reader.at, kind, text));
      at = this.reader.at;
    };
    if (isTaken) front("number", `record ${this.reader.bigUint()}`);
    if (isTaken && (kind === FIRST_PART || kind === GIVEN_UP)) front("number", counted(narrowed(this.reader.bigUint()), "record"));
    if (isTaken && kind === FIRST_PART) front("length", `${counted(this.reader.uint(), "byte")} in all blocks`);
    if (at < end) {
      const part = this.part(at, end, end, "data", counted(end - at, "byte"));
      fronts.push(part);
      if (kind === FIRST_PART && isTaken) this.openGroup(part, block);
    }
    return new Nested(fronts, [], null);
  }

  /** Shows the records of a group below its first part, if it is whole. */
  openGroup(part, block) {
    const { first, count } = block.beginning;
    const { bytes } = this.log.joined(block, (index) => this.log.block(index));
    const records = bytes && recordsOfGroup(first, count, bytes);
    if (!records) return;
    part.opens(() => {
      const known = definitionsBefore(records, this.options);
      return new Nested(records.map(({ number, message }, index) => {
        const record = this.messagePart(message, known(index), `record ${number}, put together`);
        record.step = narrowed(number);
        return record;
      }), [], null);
    });
  }

  recordParts({ number, parts, scope, first }, fronts, at, isRead) {
    if (!isRead.has(scope)) isRead.set(scope, definitionsBefore(scope.records, this.options));
    const known = isRead.get(scope);
    const startOf = (index) => (index === 0 ? this.numberEnd(at) : this.endOf(parts[index - 1].bytes));
    fronts.push(this.part(at, startOf(0), startOf(0), "number", `the first record is ${number}`));
    const make = (index) => {
      const { number, bytes, message, isPacked, leftOut } = parts[index];
      const end = this.endOf(bytes);
      if (leftOut) return this.part(startOf(index), end, end, "number", `${counted(narrowed(leftOut), "record")} left out`);
      const name = `record ${number}`;
      const text = `${name}, ${counted(bytes.length, "byte")}${isPacked ? ", packed" : ""}`;
      const part = this.part(startOf(index), isPacked ? end : end - bytes.length, end, "message", text);
      part.step = narrowed(number);
      const before = known(first + index);
      if (before.isBroken) part.error = new StowError("a record before it in its scope has a broken prelude", part.start);
      else if (isPacked) {
        part.opens(() => new Nested([this.messagePart(message, before, `${name}, unpacked`)], [], null));
      } else {
        part.opens(() => partsOfMessage(this.bytes, this.options, part.end, end, before));
      }
      return part;
    };
    return new Nested(fronts, { count: parts.length, startOf }, make, null, stepsTo(parts));
  }

  numberEnd(at) {
    [this.reader.at, this.reader.end] = [at, this.bytes.length];
    this.reader.bigUint();
    return this.reader.at;
  }

  endOf(bytes) { return bytes.byteOffset - this.bytes.byteOffset + bytes.length; }

  /** A message that does not stand in the file as it is. */
  messagePart(bytes, known, text) {
    const source = new Outline(bytes, this.options);
    const part = new Part(source, 0, 0, bytes.length, "message", text);
    return part.opens(() => partsOfMessage(bytes, this.options, 0, bytes.length, known));
  }
}

/** Finds for each record of a scope which symbols and shapes are defined before it. */
function definitionsBefore(records, options) {
  const definitions = new Definitions(options);
  const known = records.map(({ message }) => {
    const { symbols, shapes, isBroken } = definitions;
    const [symbolCount, shapeCount] = [symbols.length, shapes.length];
    try {
      if (message && !isBroken) definitions.open(message);
    } catch (error) {
      if (!(error instanceof StowError)) throw error;
    }
    return { symbolCount, shapeCount, isBroken };
  });
  return (index) => {
    const { symbolCount, shapeCount, isBroken } = known[index];
    const { symbols, shapes } = definitions;
    return { symbols, shapes, limits: isBroken ? null : { symbol: symbolCount, shape: shapeCount }, isBroken };
  };
}

/** Finds the index of the record of a number. */
function stepsTo(records) {
  return { indexOf: (step) => records.findIndex(({ number, leftOut }) => String(number) === step && number >= 0 && !leftOut) };
}

/** The parts of a record, given what is defined before it. */
function partsOfMessage(bytes, options, start, end, { symbols, shapes, limits }) {
  const outline = new Outline(bytes, options, start, end);
  [outline.symbols, outline.shapes, outline.limits] = [symbols, shapes, limits];
  return outline.messageParts();
}

// ## Streams

/** Takes down where the records of a stream are, and what is defined before each. */
class RecordPlaces extends StreamReader {
  places = [];

  read(message) {
    const { definitions } = this;
    const { symbols, shapes } = definitions;
    const place = { start: this.passed + this.start, size: message.length, definitions };
    [place.symbols, place.shapes] = [symbols.length, shapes.length];
    this.open(message);
    this.places.push(place);
    return place;
  }

  /** What breaks the stream; null if nothing does. */
  readAll(bytes) {
    try {
      this.push(bytes);
      this.finish();
      return null;
    } catch (error) {
      if (error instanceof StowError) return error;
      throw error;
    }
  }
}

class StreamOutline extends Outline {
  root() {
    const { bytes } = this;
    const root = new Part(this, 0, 0, bytes.length, "stream", "stream");
    return root.opens(() => this.recordParts(root));
  }

  recordParts({ until }) {
    const reader = new RecordPlaces(this.options);
    const error = reader.readAll(this.bytes);
    const end = error ? reader.passed + reader.start : until;
    const head = Math.min(3, end);
    const fronts = head > 0 ? [this.leafOf(0, head, "head", `stream, version ${this.bytes[2]}`)] : [];
    const items = [];
    let at = head;
    const resets = (next) => { for (; at < next; at++) items.push({ start: at, number: -1 }); };
    reader.places.forEach((place, number) => {
      resets(place.start);
      items.push({ ...place, number });
      at = place.start + uintSizeAt(this.bytes, place.start) + place.size + 4;
    });
    resets(end);
    const places = { count: items.length, startOf: (index) => items[index].start };
    const rest = error && this.fault(end, until, new StowError(error.rule, end));
    return new Nested(fronts, places, (index) => this.recordPart(items[index]), rest, stepsTo(items));
  }

  recordPart({ start, size, number, definitions, symbols, shapes }) {
    if (number < 0) return this.leafOf(start, 1, "reset", "all definitions are forgotten");
    const head = start + uintSizeAt(this.bytes, start), end = head + size;
    const part = new Part(this, start, head, end + 4, "message", `record ${number}, ${counted(size, "byte")}`);
    part.step = number;
    return part.opens(() => {
      const known = { ...definitions, limits: { symbol: symbols, shape: shapes } };
      const nested = partsOfMessage(this.bytes, this.options, head, end, known);
      nested.fronts.push(this.leafOf(end, 4, "checksum", `checksum of record ${number}`));
      return nested;
    });
  }
}

/** How many bytes the uint at an offset has. */
function uintSizeAt(bytes, at) {
  const first = bytes[at];
  return first <= 0xDF ? 1 : first <= 0xF7 ? 2 : first <= 0xFB ? 3 : first === 0xFC ? 5 : 9;
}

// ## Whatever the bytes are

/**
 * The part that is all of a message, a log or a stream; what is nested in it is found when it is asked for. Broken bytes
 * are parts of kind "fault".
 *
 * @param {Uint8Array | ArrayBuffer} source
 * @param {object} [options] see stow.d.ts
 * @returns {Part}
 */
export function outline(source, options = {}) {
  const bytes = bytesOf(source);
  if (isLog(bytes)) return new LogOutline(bytes, options).root();
  if (bytes[0] === 0x7F && bytes[1] === 0x03) return new StreamOutline(bytes, options).root();
  return messageOutline(bytes, options);
}

function messageOutline(bytes, options) {
  const reader = new Outline(bytes, options);
  const root = new Part(reader, 0, 0, bytes.length, "message", `message of ${counted(bytes.length, "byte")}`);
  return root.opens(() => reader.messageParts());
}

/** Parts of up to so many bytes are read as one to find out whether they are whole. */
const READ_AT_ONCE = 65536;

/**
 * Looks for the first fault in a part. It yields now and then how far it is, so that one can do something else between,
 * and returns the indices of the parts that lead to the fault, and its error; null if there is none.
 *
 * @param {Part} part
 */
export function* check(part) {
  let fault = part.error;
  if (!fault && (part.isLeaf || part.isValue && part.until - part.start <= READ_AT_ONCE)) {
    if (part.isLeaf) return null;
    try {
      part.read();
      return null;
    } catch (error) {
      if (!(error instanceof StowError)) throw error;
      fault = error;
    }
  }
  for (let index = 0; index < part.count; index++) {
    const nested = part.part(index);
    if (index % 1024 === 1023 || !nested.isLeaf) yield nested.until;
    const found = nested.isLeaf && !nested.error ? null : yield* check(nested);
    if (found) return { indices: [index, ...found.indices], error: found.error };
  }
  return fault && { indices: [], error: fault };
}

/**
 * Every part of a message with its meaning: the ranges follow each other, and cover every byte once.
 *
 * @param {Uint8Array | ArrayBuffer} bytes a message
 * @param {object} [options] see stow.d.ts
 * @returns {object[]} parts with `start`, `end`, `until`, `depth`, `kind`, `text` and perhaps a `value`
 */
export function walk(bytes, options = {}) {
  return guarded(() => {
    const items = [];
    const root = messageOutline(bytesOf(bytes), options);
    for (let index = 0; index < root.count; index++) flatten(root.part(index), 0, items);
    return items;
  });
}

function flatten(part, depth, items) {
  if (part.before) flatten(part.before, depth++, items);
  if (part.error) throw part.error;
  const { start, end, until, kind, value } = part;
  const text = typeof part.step === "string" && !part.before ? `${quoted(part.step)}: ${part.text}` : part.text;
  if (end > start) items.push({ start, end, until, depth, kind, text, value });
  for (let index = 0; index < part.count; index++) flatten(part.part(index), depth + 1, items);
}

function counted(count, noun) { return `${String(count).replace(/\B(?=(\d{3})+$)/g, ",")} ${noun}${count === 1 ? "" : "s"}`; }

function quoted(text) { return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text); }

/** A value without anything in it, in short. */
function shown(value) {
  if (typeof value === "string") return quoted(value);
  if (Object.is(value, -0)) return "-0.0";
  if (value instanceof Float) return value.bits === null ? `${value.value}.0` : `nan(0x${value.bits.toString(16)})`;
  if (value instanceof StowDate) return `${value.seconds} s`;
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return counted(value.length, "byte");
  if (value instanceof NestedNil) return `level ${value.level}`;
  if (Array.isArray(value)) return "[]";
  return typeof value === "object" && value !== null && !value.toJSON ? "{}" : String(value);
}

function scalarKind(tag) {
  if (tag === 0x00 || tag === 0x7C) return "nil";
  if (tag <= 0x02) return "bool";
  if (tag <= 0x0D || tag >= 0x80) return "integer";
  if (tag <= 0x15 || (tag >= 0x20 && tag <= 0x2F)) return "float";
  if (tag <= 0x17) return "date";
  if (tag === 0x18) return "uuid";
  if (tag === 0x19) return "data";
  return tag === 0x1B || tag === 0x1C ? "decimal" : "string";
}

const LOW_TYPES = [
  "constant", "floats of 4 bytes", "floats of 8 bytes", "Bools", "Bools, a bit each", "integers of own widths",
  "differences of own widths", "dates",
];
const HIGH_TYPES = ["integral floats", "differences", "integers without a sign", "offsets from a base"];

function typeText(type) {
  const high = type >> 4, low = type & 0x0F;
  if (type >= 0x01 && type <= 0x08) return `integers of ${counted(type, "byte")}`;
  if (high === 0) return LOW_TYPES[type === 0 ? 0 : type - 8];
  if (high <= 9) return `${low > 8 ? "noisy " : ""}decimals of exponent ${high}, ${counted(low & 7, "byte")}`;
  return high > 0xD ? "reserved" : `${HIGH_TYPES[high - 0xA]} of ${counted(low, "byte")}`;
}
