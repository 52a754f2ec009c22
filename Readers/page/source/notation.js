// Values as text: in diagnostic notation (Format/Notation.md) and as JSON, and paths to them.

import { Decimal, Float, NestedNil, StowDate, StowError, StowURL, UUID, each } from "../../javascript/stow.js";

const WIDTH = 100;
/** The milliseconds from 1970 to 2001. */
const EPOCH = 978307200000;

/** What is written with an escape: quotes, controls, and what is invisible and moves the text around it. */
const ESCAPED = /["\\\u0000-\u001F\u007F-\u009F\u200E\u200F\u2028-\u202E\u2066-\u2069\uFEFF]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;
const SHORT = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** A string in quotes, as in JSON. */
export function quotedText(text) { return quoted(text, (digits) => `\\u${digits.padStart(4, "0")}`); }

/** A string in quotes, whose characters without a short escape are written as `escape` says, given their hexadecimal digits. */
function quoted(text, escape) {
  return `"${text.replace(ESCAPED, (unit) => SHORT[unit] ?? escape(unit.charCodeAt(0).toString(16)))}"`;
}

export function base64(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 24573) text += btoa(String.fromCharCode(...bytes.subarray(at, at + 24573)));
  return text;
}

export function hexText(bytes) { return Array.from(bytes, (byte) => byte.toString(16).toUpperCase().padStart(2, "0")).join(" "); }

function floatText(value, bits, size) {
  if (value !== value) {
    if (bits === null || (size === 8 && bits === 0x7FF8000000000000n)) return "nan";
    return `nan(0x${bits.toString(16).padStart(size * 2, "0")})`;
  }
  if (Object.is(value, -0)) return "-0.0";
  if (Math.abs(value) === Infinity) return value < 0 ? "-inf" : "inf";
  const magnitude = Math.abs(value), text = String(value);
  // As the notation writes floats: with an exponent of two or three digits where there are many zeros.
  if (magnitude !== 0 && (magnitude < 1e-4 || magnitude >= 1e16)) return value.toExponential().replace(/([+-])(\d)$/, "$10$2");
  return text.includes(".") ? text : `${text}.0`;
}

function secondsOf(date) { return date instanceof StowDate ? date.seconds : (date.getTime() - EPOCH) / 1000; }

/** A date in UTC with all decimals of its seconds; null if it has no such text. */
function dateText(seconds) {
  const [, sign, digits, decimals = ""] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(seconds)) ?? [];
  if (digits === undefined || Object.is(seconds, -0)) return null;
  let whole = BigInt(sign + digits), rest = decimals;
  if (sign && BigInt(decimals || 0) > 0n) {
    whole -= 1n;
    rest = (10n ** BigInt(decimals.length) - BigInt(decimals)).toString().padStart(decimals.length, "0").replace(/0+$/, "");
  }
  const date = new Date(Number(whole) * 1000 + EPOCH);
  const year = date.getUTCFullYear();
  if (!(year >= 0 && year <= 9999)) return null;
  return `${date.toISOString().slice(0, 19)}${rest ? `.${rest}` : ""}Z`;
}

/** A value without others in it, in notation. */
function scalarText(value) {
  switch (typeof value) {
    case "string": return quotedText(value);
    case "boolean": case "bigint": return String(value);
    case "number": return Number.isSafeInteger(value) && !Object.is(value, -0) ? String(value) : floatText(value, null, 8);
  }
  if (value === null) return "null";
  if (value instanceof NestedNil) return `null(${value.level})`;
  if (value instanceof Float) return floatText(value.value, value.bits, value.size);
  if (value instanceof Date) {
    const seconds = secondsOf(value), text = dateText(seconds);
    return text ? `date"${text}"` : `date(${floatText(seconds, value.bits ?? null, 8)})`;
  }
  if (value instanceof UUID) return `uuid"${value}"`;
  if (value instanceof StowURL) return `url${quotedText(value.href)}`;
  if (value instanceof Uint8Array) return `data"${base64(value)}"`;
  return `decimal"${value}"`;
}

/** The same as JSONEncoder writes it: dates as seconds since 2001, data in Base64, every nil as null. */
function scalarJSON(value) {
  if (value === null || value instanceof NestedNil) return "null";
  if (value instanceof UUID) return quotedText(String(value));
  if (value instanceof StowURL) return quotedText(value.href);
  if (value instanceof Uint8Array) return quotedText(base64(value));
  const text = value instanceof Date ? String(secondsOf(value)) : value instanceof Float ? String(value.value) : scalarText(value);
  const number = value instanceof Decimal ? String(value) : text;
  if (/^-?(inf|nan|Inf|Nan|NaN)/.test(number)) throw new StowError(`JSON has no number for ${number}`);
  return number;
}

/**
 * Writes on one line what has room there, and otherwise each item on a line of its own. Leaves out the items after `room.left` letters:
 * a few bytes may stand for strings that together are longer than any text.
 */
function written(value, scalar, indent, room) {
  const isArray = Array.isArray(value);
  if (!isArray && !(value instanceof Map)) {
    const text = scalar(value);
    room.left -= text.length;
    return text;
  }
  if ((isArray ? value.length : value.size) === 0) return isArray ? "[]" : "{}";
  const inner = `${indent}  `;
  const items = [];
  for (const [key, each] of value.entries()) {
    if (room.left < 0) {
      items.push("…");
      break;
    }
    const label = isArray ? "" : `${quotedText(key)}: `;
    room.left -= label.length;
    items.push(label + written(each, scalar, inner, room));
  }
  const [open, close] = isArray ? "[]" : "{}";
  const size = items.reduce((sum, item) => sum + item.length + 2, indent.length);
  const isShort = size <= WIDTH && !items.some((item) => item.includes("\n"));
  return isShort ? open + items.join(", ") + close : `${open}\n${inner}${items.join(`,\n${inner}`)}\n${indent}${close}`;
}

/** A value in notation, or its beginning if that has more letters than `most`. */
export function notation(value, most = Infinity) { return written(value, scalarText, "", { left: most }); }

/** What a part is, in words that mean one thing here: what the specification calls a record is an object. */
export function partText({ text }) { return text.replace(/^(partial )?record of shape/, "$1object of shape"); }

export function json(value) { return written(value, scalarJSON, "", { left: Infinity }); }

const PLAIN_KEY = /^[\p{XID_Start}_][\p{XID_Continue}-]*$/u;

/** A key as it stands before its value in a preview. */
export function keyText(key) { return PLAIN_KEY.test(key) ? key : quotedText(key); }

/** The path of some steps: `people[3].name`, and `people[].name` for all elements. */
export function pathText(steps) {
  let path = "";
  for (const step of steps) {
    if (step === each) path += "[]";
    else if (typeof step !== "string") path += `[${step}]`;
    else if (PLAIN_KEY.test(step)) path += path ? `.${step}` : step;
    else path += `[${quoted(step, (digits) => `\\u{${digits}}`)}]`;
  }
  return path;
}
