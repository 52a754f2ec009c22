// The page in a real browser, opened from disk.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";

import { encode } from "../../javascript/stow.js";
import { logBytes } from "../../javascript/test/support/vectors.js";
import { Browser, browserPath } from "./browser.js";

const PAGE = new URL("../index.html", import.meta.url).href;
const skip = browserPath() === null && "there is no browser";
let browser = null, folder = null;

before(async () => {
  if (skip) return;
  folder = mkdtempSync(join(tmpdir(), "stow-files-"));
  browser = await Browser.open();
  await browser.size(1280, 800);
});

after(async () => {
  if (skip) return;
  await browser.close();
  rmSync(folder, { recursive: true });
});

async function drop(name, bytes) {
  writeFileSync(join(folder, name), bytes);
  await browser.load(PAGE);
  await browser.drop([join(folder, name)]);
  await browser.until("document.getElementById('status').className !== ''");
}

function text(selector) { return browser.get(`document.querySelector(${JSON.stringify(selector)}).textContent`); }

/** Waits until an element has a text. */
async function shows(selector, expected) {
  await browser.until(`document.querySelector(${JSON.stringify(selector)}).textContent === ${JSON.stringify(expected)}`);
}

const value = { name: "Elbe", people: [{ name: "Ada", age: 36 }, { name: "Grace", age: 85 }], list: [1.5, 2.5, 1000.25] };

test("a file is dropped, and a byte and a row choose each other", { skip }, async () => {
  await drop("message.stow", encode(value));
  assert.match(await text("#status"), /valid/);
  await browser.click("#tree .row:last-child");
  await browser.get("document.querySelector('#tree').focus()");
  await browser.key("Home");
  await shows("#path", "message");
  const at = Buffer.from(encode(value)).indexOf("Ada");
  await browser.click(`.byte[data-at="${at}"]`);
  await shows("#path", "people[0].name");
  await shows("#value", '"Ada"');
  assert.match(await text("#tree .row.chosen"), /Ada/);
  await browser.click("#copy-json");
  await browser.until("document.documentElement.dataset.copied === '\"Ada\"'");
});

test("a path is searched", { skip }, async () => {
  await drop("message.stow", encode(value));
  await browser.key("/");
  await browser.type("people[].age");
  await browser.until("document.querySelector('#found').value === '1 of 2'");
  await browser.key("Enter");
  await shows("#path", "people[1].age");
});

test("a broken file is shown up to where it breaks", { skip }, async () => {
  const bytes = encode(value);
  await drop("cut.stow", bytes.subarray(0, bytes.length - 4));
  assert.match(await text("#status"), /broken/);
  assert.match(await text("#reason"), /^Broken at byte/);
  assert.match(await text("#tree"), /Elbe/);
  await browser.click("#to-fault");
  assert.match(await text("#path"), /^list/);
});

test("pasted hexadecimal of many digits is shown", { skip }, async () => {
  await browser.load(PAGE);
  await browser.get("document.getElementById('pasted').value = '19FC404B4C00' + '0A'.repeat(5000000)");
  await browser.get("document.getElementById('text').requestSubmit()");
  await browser.until("document.getElementById('status').className !== ''");
  await shows("#name", "pasted bytes");
});

test("a file inside of the page is shown at once", { skip }, async () => {
  const data = Buffer.from(encode(value)).toString("base64");
  const page = readFileSync(new URL("../index.html", import.meta.url), "utf8");
  const element = `<script type="text/plain" id="inside" data-name="a &quot;b&quot;.stow">${data}</script>`;
  writeFileSync(join(folder, "inside.html"), page + element);
  await browser.load(pathToFileURL(join(folder, "inside.html")).href);
  await browser.until("document.getElementById('status').className !== ''");
  await shows("#name", 'a "b".stow');
  assert.match(await text("#tree"), /Elbe/);
});

test("long texts are not read once more for each row of their bytes", { skip }, async () => {
  await browser.load(PAGE);
  await browser.get(`{
    const { decode } = TextDecoder.prototype;
    window.decoded = 0;
    TextDecoder.prototype.decode = function (bytes, ...rest) {
      window.decoded += bytes.length > 50000;
      return decode.call(this, bytes, ...rest);
    };
  }`);
  writeFileSync(join(folder, "long.stow"), encode({ first: "x".repeat(100000), second: "é".repeat(50000) }));
  await browser.drop([join(folder, "long.stow")]);
  await browser.until("document.getElementById('status').className !== ''");
  await browser.settle();
  assert.ok(await browser.get("window.decoded") <= 8);
});

test("pasting leads back to what is open", { skip }, async () => {
  await drop("message.stow", encode(value));
  for (const isBack of [false, true]) {
    await browser.click("#paste");
    assert.equal(await browser.get("document.getElementById('start').hidden"), isBack);
    assert.equal(await browser.get("document.getElementById('view').hidden"), !isBack);
  }
});

test("what cannot be read is named", { skip }, async () => {
  mkdirSync(join(folder, "a folder ".repeat(20).trim()));
  await browser.load(PAGE);
  await browser.drop([join(folder, "a folder ".repeat(20).trim())]);
  await browser.until("document.getElementById('status').className === 'fault'");
  assert.equal(await text("#status"), `${"a folder ".repeat(20)}cannot be read`);
  await browser.size(360, 740);
  assert.ok(await browser.get("document.documentElement.scrollWidth <= 360"));
  await browser.size(1280, 800);
});

test("a log is a list of its records, and its blocks are another view", { skip }, async () => {
  await drop("people.stowlog", readFileSync(new URL("../../../Examples/levels.stowlog", import.meta.url)));
  const rows = () => browser.get("[...document.querySelectorAll('#tree .row')].filter(({ hidden }) => !hidden).map((row) => row.textContent)");
  const list = await rows();
  assert.equal(list.length, 11);
  assert.match(list[0], /^log/);
  list.slice(1).forEach((row, number) => assert.match(row, new RegExp(`^▶record ${number}{.*: .*}\\d+$`)));
  assert.equal(new Set(list.map((row) => row.replace(/^.*?{/, ""))).size, 11);
  await browser.click("#tree .row:nth-child(4)");
  await shows("#path", "[2]");
  await browser.click("#tab-structure");
  await shows("#path", "[2]");
  assert.match((await rows()).join(), /checksum.*frame/);
  await browser.click("#tab-tree");
  await shows("#path", "[2]");
  assert.equal((await rows()).length, 11);
  await browser.get("document.querySelector('#query').focus()");
  await browser.type("[7].level");
  await shows("#path", "[7].level");
});

test("closed objects and arrays show what they begin with", { skip }, async () => {
  const previews = new Map([
    [{ name: "Ada", age: 36 }, '{name: "Ada", age: 36}'], [[1.5, 2.5], "[1.5, 2.5]"], [[[], {}, true], "[[…], {…}, true]"],
    [{ "b c": "x".repeat(50) }, `{"b c": "${"x".repeat(32)}"…}`], [Array(99).fill("letters"), /^\["letters", ("letters", )+…\]$/],
  ]);
  await drop("message.stow", encode([...previews.keys(), ...Array(100).fill({ a: 1 })]));
  const shorts = await browser.get("[...document.querySelectorAll('#tree .row .short:not(.structure)')].map((short) => short.textContent)");
  [...previews.values()].forEach((preview, index) => {
    if (typeof preview === "string") assert.equal(shorts[index], preview);
    else assert.match(shorts[index], preview);
  });
});

test("the panel takes little room where there is no value", { skip }, async () => {
  await drop("packed.stowlog", logBytes("packed"));
  const height = () => browser.get("document.querySelector('#panel').clientHeight");
  const empty = await height();
  await browser.click("#tree .row:nth-child(2)");
  await browser.until("!document.querySelector('#value').hidden");
  assert.ok(empty < await height() / 2);
});

test("sizes are drawn, each with the last step of its path, and counts are written as stowtool does", { skip }, async () => {
  await drop("message.stow", encode({ ...value, text: Array.from({ length: 4000 }, (_, index) => `${index}`) }));
  await browser.click("#tab-sizes");
  await browser.until("document.querySelectorAll('.tile').length > 2");
  const labels = await browser.get("[...document.querySelectorAll('.tile .title')].map((title) => title.textContent)");
  assert.ok(labels.some((label) => /^text \d\d,\d{3}$/.test(label)), labels.join());
  for (const label of labels) assert.match(label, /^(\w+|\[\]|\([\w ]+\)) [\d,]+$/);
  assert.match(await text("#about"), /^message, \d\d,\d{3} bytes$/);
});

test("text of strangers is text", { skip }, async () => {
  const hostile = '<img src=x onerror="document.title=1"></script><script>document.title=2</script>';
  await drop("hostile.stow", encode({ [hostile]: hostile, __proto__x: [hostile] }));
  await browser.click("#tab-sizes");
  await browser.until("document.querySelectorAll('.tile').length > 0");
  assert.equal(await browser.get("document.images.length + document.querySelectorAll('script').length"), 1);
  assert.equal(await browser.get("document.title"), "hostile.stow · Stow");
});

test("many rows are scrolled to the end", { skip }, async () => {
  await drop("many.stow", encode(Array.from({ length: 500000 }, (_, index) => `${index}`)));
  await browser.get("document.querySelector('#tree').focus()");
  await browser.key("End");
  await shows("#path", "[499999]");
  assert.ok(await browser.get("document.querySelectorAll('#tree .row').length < 100"));
});

test("the field for a path has room for its hint on 390 pixels", { skip }, async () => {
  await drop("message.stow", encode(value));
  await browser.size(390, 760);
  assert.ok(await browser.get(`(() => {
    const field = document.querySelector("#query"), pen = document.createElement("canvas").getContext("2d");
    const style = getComputedStyle(field);
    pen.font = style.font;
    return pen.measureText(field.placeholder).width <= field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  })()`));
  await browser.size(1280, 800);
});

test("a screenshot is made, and nothing is wide for 360 pixels", { skip }, async () => {
  await drop("message.stow", encode(value));
  for (const isDark of [false, true]) {
    await browser.size(360, 740, isDark);
    assert.ok(await browser.get("document.documentElement.scrollWidth <= 360"));
    assert.ok((await browser.screenshot()).length > 10000);
  }
  await browser.size(1280, 800);
});

test("nothing went wrong, and nothing was asked of a network", { skip }, () => {
  assert.deepEqual(browser.errors, []);
  assert.ok(browser.requests.every((url) => url.startsWith("file:")));
});
