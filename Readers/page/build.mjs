// Builds index.html of the reader in JavaScript and what is in `source`: one file that needs nothing beside it.
// `stowtool view` appends a file to it, so that it ends without closing its body.
//
//     node build.mjs           writes it
//     node build.mjs --check   says whether it is up to date

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const folder = dirname(fileURLToPath(import.meta.url));
const IMPORT = /^import \{([^}]*)\} from "([^"]+)";\n/gm;

/** A module as a constant, whose imports are taken from the constants of other modules, which come before. */
function addModule(path, names, parts) {
  if (names.has(path)) return names.get(path);
  let text = readFileSync(path, "utf8");
  const taken = [...text.matchAll(IMPORT)].map(([, list, from]) => {
    return `const {${list}} = ${addModule(resolve(dirname(path), from), names, parts)};\n`;
  });
  const exported = [...text.matchAll(/^export (?:async )?(?:class|const|function\*?) (\w+)/gm)].map((found) => found[1]);
  text = text.replace(IMPORT, "").replace(/^export (?=(?:async )?(?:class|const|function))/gm, "");
  const name = `module${names.size + 1}`;
  names.set(path, name);
  parts.push(`const ${name} = (() => {\n${taken.join("")}${text}return { ${exported.join(", ")} };\n})();\n`);
  return name;
}

function hash(text) { return `sha256-${createHash("sha256").update(text).digest("base64")}`; }

function build() {
  const parts = [];
  addModule(resolve(folder, "source/page.js"), new Map(), parts);
  const script = `\n${parts.join("\n")}`;
  const style = `\n${readFileSync(resolve(folder, "source/page.css"), "utf8")}`;
  for (const text of [script, style]) if (/<\/(script|style)|<!--/i.test(text)) throw new Error("this would end the element around it");
  const values = { script, style, "script hash": hash(script), "style hash": hash(style) };
  const page = readFileSync(resolve(folder, "source/page.html"), "utf8");
  return page.replace(/\{\{(.*?)\}\}/g, (_, name) => values[name]);
}

const page = resolve(folder, "index.html"), text = build();
if (process.argv[2] !== "--check") {
  writeFileSync(page, text);
} else if (readFileSync(page, "utf8") !== text) {
  console.error(`${page} is not up to date: node Readers/page/build.mjs`);
  process.exit(1);
}
