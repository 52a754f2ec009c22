// The notation of the vectors, which Conformance/README.md describes: from text to values, and texts of values
// that are equal exactly if the values are.

import { Decimal, Float, NestedNil, StowDate, StowURL, UUID } from "../../stow.js";

/** Bytes as two hexadecimal digits each; `00*20` stands for twenty times 00. */
export function hexBytes(text) {
  const bytes = [];
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const [digits, count] = word.split("*");
    for (let index = 0; index < Number(count ?? 1); index++) {
      for (let at = 0; at < digits.length; at += 2) bytes.push(parseInt(digits.slice(at, at + 2), 16));
    }
  }
  return Uint8Array.from(bytes);
}

export function hex(bytes) { return Buffer.from(bytes).toString("hex").toUpperCase(); }

/** Parses JSON to what the reader makes of a message when it is asked for exact values and Maps. */
export class JSONParser {
  constructor(text, makeObject = (map) => map) {
    this.text = text;
    this.at = 0;
    this.makeObject = makeObject;
  }

  document() {
    const value = this.value();
    this.space();
    if (this.at < this.text.length) throw new Error(`something after the JSON: ${this.text.slice(this.at)}`);
    return value;
  }

  space() { while (" \t\r\n".includes(this.text[this.at] ?? "x")) this.at++; }

  take(text) {
    this.space();
    if (!this.text.startsWith(text, this.at)) return false;
    this.at += text.length;
    return true;
  }

  value() {
    this.space();
    if (this.take("null")) return null;
    if (this.take("true")) return true;
    if (this.take("false")) return false;
    if (this.text[this.at] === '"') return this.string();
    if (this.take("[")) return this.array();
    if (this.take("{")) return this.object();
    return this.number();
  }

  string() {
    let end = this.at + 1;
    while (this.text[end] !== '"') end += this.text[end] === "\\" ? 2 : 1;
    const string = JSON.parse(this.text.slice(this.at, end + 1));
    this.at = end + 1;
    return string;
  }

  number() {
    const number = /[-+0-9.eE]+/y;
    number.lastIndex = this.at;
    const [digits] = number.exec(this.text);
    this.at += digits.length;
    if (/[.eE]/.test(digits)) return float(Number(digits));
    const integer = BigInt(digits);
    return Number.isSafeInteger(Number(integer)) ? Number(integer) : integer;
  }

  array() {
    const elements = [];
    while (!this.take("]")) {
      elements.push(this.value());
      this.take(",");
    }
    return elements;
  }

  object() {
    const map = new Map();
    while (!this.take("}")) {
      this.space();
      const key = this.string();
      this.take(":");
      const value = this.value();
      if (value !== ABSENT) map.set(key, value);
      this.take(",");
    }
    return this.makeObject(map);
  }
}

const ABSENT = Symbol("a key that is asked for and has no value");

/** A float as the reader makes it when it is asked for exact values. */
export function float(value) {
  return Number.isSafeInteger(value) && !Object.is(value, -0) ? new Float(value) : value;
}

const SPECIAL = {
  $nil: (level) => (level === 0 ? null : new NestedNil(level)),
  $bits: (digits) => {
    const found = Float.fromBits(BigInt(`0x${digits}`), digits.length / 2);
    return found.bits === null ? float(found.value) : found;
  },
  $repeat: ([text, count]) => text.repeat(count),
  $data: hexBytes,
  $date: (seconds) => {
    const { value, bits } = seconds instanceof Float ? seconds : { value: seconds, bits: null };
    return new StowDate(value, bits);
  },
  $uuid: (text) => new UUID(text),
  $url: (text) => new StowURL(text),
  $decimal: (parts) => (parts === "NaN" ? new Decimal(null) : new Decimal(parts[0], parts[1])),
  $A: (object) => object, $B: (object) => object, $C: (object) => object, $AB: (object) => object,
  $nothing: () => new Map(),
  $absent: () => ABSENT,
};

/** The value that a text says. */
export function parse(text) {
  return new JSONParser(text, (map) => {
    const [[key, value] = []] = map;
    return map.size === 1 && Object.hasOwn(SPECIAL, key) ? SPECIAL[key](value) : map;
  }).document();
}

// Texts of values.

const view = new DataView(new ArrayBuffer(8));

function bits(value) {
  view.setFloat64(0, value);
  return view.getBigUint64(0).toString(16).toUpperCase().padStart(16, "0");
}

function floatText(value, nan) {
  if (value === value) return `float ${bits(value)}`;
  return `float ${(nan ?? 0x7FF8000000000000n).toString(16).toUpperCase().padStart(16, "0")}`;
}

/** A text that is equal for two values exactly if they are of the same kinds and equal. */
export function described(value) {
  return write(value, {
    nil: (level) => `nil ${level}`,
    nan: (float) => (float.size === 4 ? `nan ${float.bits.toString(16)}` : floatText(NaN, float.bits)),
    decimal: ({ significand, exponent }) => `decimal ${significand}e${exponent}`,
  });
}

/** The text of a meaning that MessageReader prints as well. */
export function meaningText(value) {
  return write(value, {
    nil: (level) => `nil ${Math.min(level, 4)}`,
    nan: meaningOfNaN,
    decimal: reducedDecimal,
  });
}

/** Of a NaN that a Float holds nobody can tell which of the formats it had. */
function meaningOfNaN({ bits: found, size }) {
  const quiet = 0x7FF8000000000000n;
  let single = found;
  if (size === 8) {
    if ((found & quiet) !== quiet || (found & 0x1FFFFFFFn) !== 0n) return floatText(NaN, found);
    single = ((found >> 63n) << 31n) | ((found >> 29n) & 0x7FFFFFFFn);
  }
  return `nan ${(single | 0x7FC00000n).toString(16).toUpperCase().padStart(8, "0")}`;
}

function reducedDecimal({ significand, exponent }) {
  if (significand === null) return "decimal NaN";
  if (significand === 0n) return "decimal 0e0";
  while (significand % 10n === 0n) {
    significand /= 10n;
    exponent++;
  }
  return `decimal ${significand}e${exponent}`;
}

function write(value, style) {
  switch (typeof value) {
    case "boolean": case "bigint": return String(value);
    case "string": return quoted(value);
    case "number":
      if (Number.isSafeInteger(value) && !Object.is(value, -0)) return String(value);
      return value === value ? floatText(value) : style.nan(new Float(NaN));
  }
  if (value === null) return style.nil(0);
  if (value instanceof NestedNil) return style.nil(value.level);
  if (value instanceof Float) return value.bits === null ? floatText(value.value) : style.nan(value);
  if (value instanceof Date) return dateText(value);
  if (value instanceof UUID) return `uuid ${String(value).replaceAll("-", "")}`;
  if (value instanceof StowURL) return `url ${quoted(value.href)}`;
  if (value instanceof Uint8Array) return `data ${hex(value)}`;
  if (value instanceof Decimal) return style.decimal(value);
  if (Array.isArray(value)) return `[${value.map((element) => write(element, style)).join(", ")}]`;
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return `{${entries.map(([key, each]) => `${quoted(key)}: ${write(each, style)}`).sort(byteOrder).join(", ")}}`;
}

function byteOrder(left, right) { return left < right ? -1 : left > right ? 1 : 0; }

function dateText(date) {
  const seconds = date instanceof StowDate ? date.seconds : (date.getTime() - 978307200000) / 1000;
  return floatText(seconds, date.bits).replace("float", "date");
}

function quoted(text) {
  if (/^[ !#-[\]-~]*$/.test(text)) return `"${text}"`;
  let result = "";
  for (const byte of Buffer.from(text)) {
    const isPlain = byte >= 0x20 && byte < 0x7F && byte !== 0x22 && byte !== 0x5C;
    result += isPlain ? String.fromCharCode(byte) : `\\${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return `"${result}"`;
}
