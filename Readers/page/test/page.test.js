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

test("sizes are drawn, and logs are shown", { skip }, async () => {
  await drop("packed.stowlog", logBytes("packed"));
  assert.match(await text("#about"), /^log/);
  await browser.click("#tab-sizes");
  await browser.until("document.querySelectorAll('.tile').length > 2");
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
