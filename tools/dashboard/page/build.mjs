// Bundles src/ into ../dashboard.html, one file without any other, and writes its policy to ../dashboard.csp.
//   node build.mjs           writes both
//   node build.mjs --check   fails if they differ from what it would write
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const read = (...path) => readFileSync(join(here, ...path), "utf8");

// What the page takes of each.
const libraries = {
  preact: ["h", "render"],
  "preact/hooks": ["useEffect", "useLayoutEffect", "useMemo", "useRef", "useState"],
  htm: ["default"],
  uplot: ["default"],
};
const common = { absWorkingDir: here, bundle: true, format: "iife", charset: "ascii", target: "es2020", legalComments: "none", write: false };

// The page's own code stays readable; the libraries' does not have to: they are a script of their own in front of it.
async function bundleLibraries() {
  const contents = Object.entries(libraries)
    .map(([name, taken]) => `export { ${taken.map((one) => (one === "default" ? `default as ${name}` : one)).join(", ")} } from "${name}";`)
    .join("\n");
  const result = await esbuild.build({
    ...common, stdin: { contents, resolveDir: here }, globalName: "libraries", minify: true,
  });
  return result.outputFiles[0].text;
}

const takeLibraries = {
  name: "take-libraries",
  setup(build) {
    build.onResolve({ filter: /^[a-z]/ }, ({ path }) => ({ path, namespace: "library" }));
    build.onLoad({ filter: /.*/, namespace: "library" }, ({ path }) =>
      ({ contents: libraries[path].map((one) => (one === "default" ? `export default libraries.${path};` : `export const ${one} = libraries.${one};`)).join("\n"), loader: "js" }));
  },
};

async function bundlePage() {
  const result = await esbuild.build({ ...common, entryPoints: [join(here, "src", "main.mjs")], plugins: [takeLibraries] });
  return result.outputFiles[0].text;
}

function licences() {
  const of = (name) => {
    const { version, license } = JSON.parse(read("node_modules", name, "package.json"));
    const terms = license === "Apache-2.0" ? "Copyright 2018 Google Inc.\n\nThe text of this licence is zklock's own file LICENSE." : read("node_modules", name, "LICENSE").trim();
    return `${name} ${version} (${license})\n\n${terms}`;
  };
  const text = ["preact", "htm", "uplot"].map(of).join("\n\n----\n\n");
  return `<!--\nzklock dashboard. Made by tools/dashboard/page/build.mjs from the sources there: change those.\n\nIt contains\n\n${text.replaceAll("--", "- -")}\n-->`;
}

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const script = (await bundleLibraries()) + (await bundlePage());
const style = read("node_modules", "uplot", "dist", "uPlot.min.css") + "\n" + read("src", "style.css");
if (/<\/(script|style)/i.test(script + style)) throw new Error("the page would end inside its own script");
const html = read("src", "page.html").replace("<!-- licences -->", () => licences())
  .replace("/* style */", () => style).replace("/* script */", () => script);
const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; connect-src 'self'; ` +
  "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\n";

let failed = false;
for (const [name, text] of [["dashboard.html", html], ["dashboard.csp", policy]]) {
  const path = join(here, "..", name);
  if (!process.argv.includes("--check")) {
    writeFileSync(path, text);
    console.log(`${name}: ${Buffer.byteLength(text)} bytes`);
  } else if (readFileSync(path, "utf8") !== text) {
    console.error(`${name} is not what its sources give: run scripts/page`);
    failed = true;
  }
}
if (Buffer.byteLength(html) > 150_000) {
  console.error("the page is larger than 150 kB");
  failed = true;
}
process.exit(failed ? 1 : 0);
