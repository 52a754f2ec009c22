// Logs and streams that are made for a test.

import { checksum } from "./checksum.js";
import { hexBytes } from "./notation.js";

const IDENTITY = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
const BLOCK_SIZE = 65536;

/** A log of blocks: of each the number in its head, and its frames, which are kinds and payloads. */
export function logOf(...blocks) {
  const parts = blocks.map(({ first = 0, frames }, index) => {
    const bytes = index < blocks.length - 1 ? Buffer.alloc(BLOCK_SIZE) : Buffer.alloc(32 + sizeOf(frames));
    head(index, first).copy(bytes);
    let at = 32;
    for (const [kind, payload] of frames) at += frame(index * BLOCK_SIZE + at, kind, payload).copy(bytes, at);
    return bytes;
  });
  return new Uint8Array(Buffer.concat(parts));
}

function sizeOf(frames) { return frames.reduce((size, [, payload]) => size + 7 + payload.length, 0); }

function head(index, first) {
  const rest = Buffer.concat([IDENTITY, bytesOf(first, 8), bytesOf(index, 4), bytesOf(0, 4)]);
  const front = Uint8Array.of(0x7F, 0x02, 0x01, 0x00);
  return Buffer.concat([front, bytesOf(checksum(Buffer.concat([front, rest])), 4), rest]);
}

function frame(offset, kind, payload) {
  const rest = Buffer.concat([bytesOf(payload.length, 2), Uint8Array.of(kind), payload]);
  return Buffer.concat([bytesOf(checksum(Buffer.concat([IDENTITY, bytesOf(offset, 8), rest])), 4), rest]);
}

function bytesOf(number, size) {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(number));
  return bytes.subarray(0, size);
}

/** A stream of records, of which each has a length in five bytes. */
export function stream(...records) {
  const parts = [hexBytes("7F 03 01")];
  records.forEach((record, number) => {
    const count = Buffer.alloc(8), length = Buffer.alloc(4), sum = Buffer.alloc(4);
    count.writeUInt32LE(number);
    length.writeUInt32LE(record.length);
    sum.writeUInt32LE(checksum(Buffer.concat([count, record])));
    parts.push(hexBytes("FC"), length, record, sum);
  });
  return new Uint8Array(Buffer.concat(parts));
}
