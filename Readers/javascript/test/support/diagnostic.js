// Diagnostic notation (Format/Notation.md) on one line, as the meanings of the conformance suite are written in it.

import { Decimal, Float, NestedNil, StowDate, StowURL, UUID } from "../../stow.js";

const QUIET_NAN = 0x7FF8000000000000n;
const EPOCH = 978307200000;
const SHORT_ESCAPES = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };
/** Controls, marks of direction, separators of lines and the byte order mark. */
const ESCAPED = /["\\\x00-\x1F\x7F-\x9F\u200E\u200F\u2028-\u202E\u2066-\u2069\uFEFF]/g;
/** The years of four digits, in seconds since 2001. */
const FIRST = -63145526400, END = 252423993600;

/** The text of a value that was read with `exact: true` and `objects: "map"`. */
export function notation(value) {
  if (Array.isArray(value)) return `[${value.map(notation).join(", ")}]`;
  if (value instanceof Map) return `{${[...value].map(([key, each]) => `${quoted(key)}: ${notation(each)}`).join(", ")}}`;
  switch (typeof value) {
    case "boolean": case "bigint": return String(value);
    case "string": return quoted(value);
    case "number": return Number.isSafeInteger(value) && !Object.is(value, -0) ? String(value) : floatText(value);
  }
  if (value === null) return "null";
  if (value instanceof NestedNil) return `null(${value.level})`;
  if (value instanceof Float) return value.bits === null ? floatText(value.value) : nanText(value.bits, value.size);
  if (value instanceof Date) return dateText(value);
  if (value instanceof UUID) return `uuid"${value}"`;
  if (value instanceof StowURL) return `url${quoted(value.href)}`;
  if (value instanceof Uint8Array) return `data"${Buffer.from(value).toString("base64")}"`;
  if (value instanceof Decimal) return `decimal"${decimalText(value)}"`;
  throw new Error(`a value without notation: ${value}`);
}

function quoted(text) {
  return `"${text.replace(ESCAPED, (found) => SHORT_ESCAPES[found] ?? `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`)}"`;
}

function nanText(bits, size) {
  return size === 8 && bits === QUIET_NAN ? "nan" : `nan(0x${bits.toString(16).padStart(size * 2, "0")})`;
}

/** The shortest digits that lead to a float, with a point, or with an exponent where there are many zeros. */
function floatText(value) {
  if (value !== value) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  const [mantissa, power] = value.toExponential().split("e");
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  const digits = mantissa.replace("-", "").replace(".", ""), exponent = Number(power);
  if (exponent < -4 || exponent >= 16) {
    const point = digits.length > 1 ? `.${digits.slice(1)}` : "";
    return `${sign}${digits[0]}${point}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  }
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  return `${sign}${whole}.${digits.slice(exponent + 1) || "0"}`;
}

function dateText(date) {
  const seconds = date instanceof StowDate ? date.seconds : (date.getTime() - EPOCH) / 1000;
  return `date${timeText(seconds) ?? `(${date.bits == null ? floatText(seconds) : nanText(date.bits, 8)})`}`;
}

/** A day and a time that say the exact decimal number of seconds; null where none does. */
function timeText(seconds) {
  if (!(seconds >= FIRST && seconds < END)) return null;
  const text = floatText(seconds);
  if (text.includes("e") || Object.is(seconds, -0)) return null;
  let [whole, fraction] = text.replace("-", "").split(".").map((digits) => BigInt(digits));
  const decimals = text.split(".")[1].length, one = 10n ** BigInt(decimals);
  if (seconds < 0) [whole, fraction] = fraction > 0n ? [-whole - 1n, one - fraction] : [-whole, 0n];
  const iso = new Date(Number(whole) * 1000 + EPOCH).toISOString().slice(0, 19);
  const shown = fraction > 0n ? `.${String(fraction).padStart(decimals, "0")}` : "";
  return `"${iso}${shown}Z"`;
}

function decimalText({ significand, exponent }) {
  if (significand === null) return "NaN";
  const sign = significand < 0n ? "-" : "", digits = String(significand).replace("-", "");
  if (exponent === 0) return sign + digits;
  if (exponent > 0 || exponent < -20) return `${sign}${digits}e${exponent}`;
  const padded = digits.padStart(1 - exponent, "0");
  return `${sign}${padded.slice(0, exponent)}.${padded.slice(exponent)}`;
}
