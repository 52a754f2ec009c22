/** The one error of this module: the bytes are not valid, or a value cannot be written. */
export class StowError extends Error {
  constructor(rule: string, offset?: number);
  /** What is wrong, in English. */
  readonly rule: string;
  /** Where in the bytes; −1 where no byte is to blame. Of a record of a log or a stream, in the record. */
  readonly offset: number;
}

/** A nil inside so many optionals that have a value, 1 to 255; `null` is the nil of level 0. */
export class NestedNil {
  constructor(level: number);
  readonly level: number;
}

/**
 * A float that a plain number would not say: one whose value is a safe integer, which as a number is written as an integer,
 * or a NaN with its bits. Read only where `exact` is asked for.
 */
export class Float {
  constructor(value: number);
  /** The NaN of these bits, or another float. */
  static fromBits(bits: bigint, size?: 4 | 8): Float;
  readonly value: number;
  /** The bits of a NaN; null for any other float. */
  readonly bits: bigint | null;
  /** 4 for the NaN of a `Float` of Swift, otherwise 8. */
  readonly size: 4 | 8;
  valueOf(): number;
  toJSON(): number;
}

/** A date that a `Date`, which counts whole milliseconds, does not hold exactly. As a `Date` it is rounded. */
export class StowDate extends Date {
  /** @param seconds since 2001-01-01 00:00:00 UTC */
  constructor(seconds: number, bits?: bigint | null);
  readonly seconds: number;
  /** The bits of seconds that are NaN; otherwise null. */
  readonly bits: bigint | null;
}

/** A UUID: its 16 bytes; as text, its digits in upper case. */
export class UUID {
  constructor(source: string | Uint8Array);
  readonly text: string;
  get bytes(): OwnBytes;
  toString(): string;
  toJSON(): string;
}

/** A URL as it is written; whether it is one is not checked. */
export class StowURL {
  constructor(href: string);
  readonly href: string;
  toString(): string;
  toJSON(): string;
}

/** A decimal number: significand · 10 to the exponent; not a number if the significand is null. */
export class Decimal {
  constructor(significand: bigint | number | null, exponent?: number);
  readonly significand: bigint | null;
  /** −128 to 127. */
  readonly exponent: number;
  toString(): string;
  toJSON(): string;
}

/** Whatever a message holds. `Float` comes only with `exact`, and `Map` only with `objects: "map"`. */
export type StowValue =
  | null | NestedNil | boolean | number | bigint | Float | string | Uint8Array | Date | StowDate | UUID | StowURL | Decimal
  | StowValue[] | { [key: string]: StowValue } | Map<string, StowValue>;

export type Bytes = Uint8Array | ArrayBuffer | ArrayBufferView;

/** Bytes that share their memory with no thread. Newer versions of TypeScript want such a `Uint8Array<ArrayBuffer>` for `fetch`. */
export type OwnBytes = ReturnType<Uint8Array["slice"]>;

export interface ReadOptions {
  /** Floats that are safe integers, and NaNs, become a `Float`: what was read is written again as it was. Default: false. */
  exact?: boolean;
  /** What objects become. A `Map` keeps the order of all keys; an object has those that are digits first. */
  objects?: "object" | "map";
  /** How many arrays and objects may lie around each other, at most 2048. Default: 512. */
  depth?: number;
}

export interface MessageOptions extends ReadOptions {
  /** The contexts that messages may name. */
  contexts?: Context[];
  /** The context that was settled before: messages rely on it that name none. They may name it, too. */
  context?: Context;
}

export interface WriteOptions {
  /** Objects have their keys in the order of their UTF-8. Default: false. */
  sortedKeys?: boolean;
  depth?: number;
  /** The context that the message is to rely on. */
  context?: Context;
  /** The context was settled before, and the message does not name it. Default: false. */
  settled?: boolean;
}

export interface RecordOptions extends ReadOptions {
  /** How many bytes a record may have: of a log, one of several blocks. Default: 2³⁰. */
  recordSize?: number;
}

/** The value of a message. */
export function decode(bytes: Bytes, options?: MessageOptions): any;

/** The canonical message of a value. */
export function encode(value: unknown, options?: WriteOptions): OwnBytes;

/** Symbols and shapes that writer and reader hold before a message comes. */
export class Context {
  /** @param message the message of the context */
  constructor(message: Bytes);
  readonly message: OwnBytes;
  readonly id: number;
  readonly symbols: readonly string[];
}

/** A step of a path: to all elements of an array, or all values of an object. */
export const each: unique symbol;

export type Step = string | number | typeof each;

/** The steps that a text says: `people[3].name`, `people[]["a b"]`. */
export function parsePath(text: string): Step[];

/** The value at the end of a path, of which only what leads to it is read; undefined if nothing is there. */
export function at(bytes: Bytes, path: string | readonly Step[], options?: MessageOptions): any;

/** What some bytes are. */
export type Kind =
  | "context" | "prelude" | "symbol" | "shape" | "key" | "nil" | "bool" | "integer" | "float" | "string" | "data" | "date"
  | "uuid" | "url" | "decimal" | "array" | "map" | "record" | "partial record" | "presence" | "packed array" | "width"
  | "base" | "element" | "table" | "matrix" | "columns" | "column" | "constant" | "row"
  /** A whole message, log or stream; of a log or a stream, a record. */
  | "message" | "log" | "stream"
  | "block" | "head" | "frame" | "checksum" | "length" | "number" | "padding" | "reset"
  /** Bytes that break a rule. */
  | "fault";

/** Some bytes, what they mean, and the parts that are nested in them, which are made when they are asked for. */
export class Part {
  private constructor();
  /** Where they stand in `bytes`, without what is nested in them. */
  readonly start: number;
  readonly end: number;
  /** The end of all that belongs to them, what is nested in them included. */
  readonly until: number;
  /** The start, or that of the key before them. */
  readonly first: number;
  readonly kind: Kind;
  /** The meaning in English. */
  readonly text: string;
  /** The value, if they have one by themselves. */
  readonly value?: any;
  /** The key or index of this value in what is around it, or the number of the record; otherwise null. */
  readonly step: string | number | null;
  /** The key that stands before the value of an entry of a map. */
  readonly before: Part | null;
  /** What is wrong with the bytes; null if nothing is, as far as one can see without what is nested. */
  readonly error: StowError | null;
  /** All bytes among which these stand: of what a packed record holds, those of the record as it is unpacked. */
  readonly bytes: Uint8Array;
  /** Nothing can be nested here. */
  readonly isLeaf: boolean;
  /** How many parts are nested here. To find that out, values are skipped, not read. */
  readonly count: number;
  part(index: number): Part;
  /** The index of the nested part that has the byte at an offset; −1 if none has it. */
  indexAt(offset: number): number;
  /** The index of the nested part to which a step of a path leads; −1 if there is none. */
  indexOf(step: string | number): number;
  /** The value with all that is in it. Throws a `StowError` if the bytes are not valid, or no value. */
  read(): any;
}

/**
 * The part that is all of a message, a log or a stream. It never throws for the sake of the bytes: what is broken is a part of
 * kind "fault", after all that is whole.
 */
export function outline(bytes: Bytes, options?: MessageOptions & RecordOptions): Part;

/** The first fault in a part, and the indices that lead there. */
export interface Fault {
  indices: number[];
  error: StowError;
}

/** Looks for the first fault. It yields now and then how far it is, and returns null if there is none. */
export function check(part: Part): Generator<number, Fault | null>;

/** A part in a list of all. */
export interface FlatPart {
  start: number;
  end: number;
  until: number;
  /** How deep it is nested. */
  depth: number;
  kind: Kind;
  text: string;
  value?: any;
}

/** Every part of a message with its meaning: the ranges follow each other, and cover every byte once. */
export function walk(bytes: Bytes, options?: MessageOptions): FlatPart[];

/** A record of a log or a stream: its value, or the error in its place. */
export type StowRecord<Number = number> =
  | { number: Number; value: any; error?: undefined }
  | { number: Number; error: StowError; value?: undefined };

export interface Log {
  /** The identity of the file, or of the last segment, in hexadecimal digits. */
  identity: string;
  /** The number of the first record that may be there: 0, unless segments were removed from the front of a folder. */
  first: number | bigint;
  /** How many records there are, those that were lost included. */
  count: number | bigint;
  /** Where the log, or its last segment, ends; what stands after it was not written whole. */
  end: number;
  /** The identity of the log, if it is not that of the file, and when the file was begun. */
  origin: { identity: string; begun: number | bigint } | null;
  records: StowRecord<number | bigint>[];
  /** The numbers of records that were lost; `end` is after the last. */
  lost: { start: number | bigint; end: number | bigint }[];
  /** The numbers of records that were left out or given up, in the same way. */
  absent: { start: number | bigint; end: number | bigint }[];
  /**
   * The bytes before the end that could not be read; of a folder, with the name of the segment. Of one that is no file of the log,
   * `start` and `end` are 0.
   */
  damage: { file?: string; start: number; end: number; reason: "head" | "frame" | "block" | "record" }[];
}

/** Everything of a log that is whole: of a file, or of a folder of segments, whose files are given by their names. */
export function openLog(source: Bytes | Map<string, Bytes>, options?: RecordOptions): Log;

/** The records of a stream that is all there. */
export function readStream(bytes: Bytes, options?: RecordOptions): Generator<StowRecord, void>;

/** What of a `ReadableStream` is used, as the body of a response is one. */
export interface ByteStream {
  getReader(): { read(): Promise<{ done: boolean; value?: Bytes }>; cancel(): Promise<void> };
}

/** The records of a stream whose bytes come in parts, each as soon as it is complete. */
export function readStreamFrom(
  chunks: ByteStream | AsyncIterable<Bytes> | Iterable<Bytes>, options?: RecordOptions,
): AsyncGenerator<StowRecord, void>;

/** Reads the records of a stream whose bytes come in parts. */
export class StreamReader {
  constructor(options?: RecordOptions);
  /** Takes in some bytes, and returns the records that they complete. An error after those is thrown by the next call. */
  push(bytes: Bytes): StowRecord[];
  /** Says that no more bytes come: throws if a record is not complete. */
  finish(): void;
}
