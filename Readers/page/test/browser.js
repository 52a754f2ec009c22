// A browser without a window, driven by the DevTools protocol through pipes: nothing but Node is needed for that.

import { spawn } from "node:child_process";
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

/** The browser of this machine: that of the environment variable BROWSER_PATH, or one by its usual name; null if there is none. */
export function browserPath() {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const paths = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [process.env.BROWSER_PATH, ...paths, "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"].find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  }) ?? null;
}

export class Browser {
  static async open() {
    const browser = new Browser();
    const { targetInfos } = await browser.call("Target.getTargets", {}, null);
    const { targetId } = targetInfos.find(({ type }) => type === "page") ?? await browser.call("Target.createTarget", { url: "about:blank" }, null);
    browser.session = (await browser.call("Target.attachToTarget", { targetId, flatten: true }, null)).sessionId;
    for (const domain of ["Page", "Runtime", "DOM", "Log", "Network"]) await browser.call(`${domain}.enable`);
    return browser;
  }

  constructor() {
    this.profile = mkdtempSync(join(tmpdir(), "stow-page-"));
    const flags = [
      "--headless=new", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu", "--hide-scrollbars", "--force-color-profile=srgb",
      "--disable-dev-shm-usage", `--user-data-dir=${this.profile}`, ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), "about:blank",
    ];
    this.process = spawn(browserPath(), flags, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.process.on("exit", () => this.waiting.forEach(({ reject }) => reject(new Error("the browser has ended"))));
    this.waiting = new Map();
    this.listeners = [];
    this.session = null;
    this.last = 0;
    /** What went wrong in the page, and what it asked the network for. */
    this.errors = [];
    this.requests = [];
    let text = "";
    this.process.stdio[4].setEncoding("utf8").on("data", (part) => {
      const messages = (text + part).split("\0");
      text = messages.pop();
      for (const message of messages) this.take(JSON.parse(message));
    });
  }

  take({ id, result, error, method, params }) {
    if (id !== undefined) {
      const { resolve, reject } = this.waiting.get(id);
      this.waiting.delete(id);
      return error ? reject(new Error(error.message)) : resolve(result);
    }
    if (method === "Runtime.exceptionThrown") this.errors.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === "Log.entryAdded" && params.entry.level === "error") this.errors.push(params.entry.text);
    if (method === "Network.requestWillBeSent") this.requests.push(params.request.url);
    this.listeners = this.listeners.filter((listener) => listener.method !== method || listener.resolve(params));
  }

  call(method, params = {}, session = this.session) {
    const id = ++this.last;
    this.process.stdio[3].write(`${JSON.stringify({ id, method, params, ...(session ? { sessionId: session } : {}) })}\0`);
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  event(method) { return new Promise((resolve) => this.listeners.push({ method, resolve: (params) => void resolve(params) })); }

  async load(url) {
    const loaded = this.event("Page.loadEventFired");
    await this.call("Page.navigate", { url });
    await loaded;
  }

  /** The value of an expression in the page. */
  async get(expression) {
    const { result, exceptionDetails } = await this.call("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true, userGesture: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Waits until an expression is true in the page. */
  async until(expression) {
    const isTrue = `new Promise((resolve) => {
      const look = () => (${expression}) ? resolve(true) : setTimeout(look, 15);
      look();
    })`;
    return this.get(isTrue);
  }

  async size(width, height, isDark = false) {
    await this.call("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
    await this.call("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: isDark ? "dark" : "light" }] });
    await this.get("new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 60)))");
  }

  async screenshot() {
    const { data } = await this.call("Page.captureScreenshot", { format: "png" });
    return Buffer.from(data, "base64");
  }

  /** Drops files of this machine on the page. */
  async drop(files) {
    const data = { items: [], files, dragOperationsMask: 1 };
    for (const type of ["dragEnter", "dragOver", "drop"]) await this.call("Input.dispatchDragEvent", { type, x: 200, y: 200, data });
  }

  /** Clicks in the middle of the first element of a selector. */
  /** Waits until what was asked for is drawn, so that nothing moves any more. */
  async settle() { await this.get("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))"); }

  async click(selector) {
    await this.until(`document.querySelector(${JSON.stringify(selector)}) !== null`);
    await this.settle();
    const [x, y] = await this.get(`(() => {
      const box = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect();
      return [box.x + box.width / 2, box.y + box.height / 2];
    })()`);
    for (const type of ["mousePressed", "mouseReleased"]) {
      await this.call("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 });
    }
    await this.settle();
  }

  async key(key, modifiers = 0) {
    const text = key.length === 1 ? key : key === "Enter" ? "\r" : undefined;
    const codes = { Enter: 13, ArrowDown: 40, ArrowUp: 38, ArrowLeft: 37, ArrowRight: 39, Escape: 27, Tab: 9, Home: 36, End: 35, PageDown: 34, PageUp: 33 };
    const windowsVirtualKeyCode = codes[key] ?? key.toUpperCase().charCodeAt(0);
    await this.call("Input.dispatchKeyEvent", { type: text ? "keyDown" : "rawKeyDown", key, text, windowsVirtualKeyCode, modifiers });
    await this.call("Input.dispatchKeyEvent", { type: "keyUp", key, windowsVirtualKeyCode, modifiers });
    await this.settle();
  }

  async type(text) { await this.call("Input.insertText", { text }); }

  async close() {
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.waiting.clear();
    this.call("Browser.close", {}, null).catch(() => {});
    const late = setTimeout(() => this.process.kill("SIGKILL"), 5000);
    await ended;
    clearTimeout(late);
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
