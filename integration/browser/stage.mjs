// A server, a dashboard and a browser, for one test file.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { after } from "node:test";
import { chromium } from "playwright-core";

const { ZKLOCK_PROGRAM: program, ZKLOCK_CHROMIUM: browserPath = "/usr/bin/chromium", ZKLOCK_PYTHON: python = "/usr/bin/python3" } = process.env;
const limit = 20_000;

const processes = new Set();
after(() => { for (const one of processes) one.kill("SIGKILL"); });

/** A child process, the lines that it writes, and what it says on stderr. */
export function start(command, words) {
  const child = spawn(command, words, { stdio: ["pipe", "pipe", "pipe"] });
  processes.add(child);
  child.on("exit", () => processes.delete(child));
  child.said = "";
  child.stderr.setEncoding("utf8").on("data", (text) => { child.said += text; process.stderr.write(text); });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  child.line = async () => {
    let timer;
    const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(`no line from ${command} ${words}`)), limit); });
    const { value } = await Promise.race([lines.next(), late]);
    clearTimeout(timer);
    return value;
  };
  return child;
}

/** Waits until the process has said it on stderr. */
export async function says(child, pattern) {
  const deadline = AbortSignal.timeout(limit);
  while (!pattern.test(child.said)) await once(child.stderr, "data", { signal: deadline });
}

export async function startServer() {
  const server = start(program, ["server"]);
  server.connect = await server.line();
  return server;
}

export async function startDashboard(connect, ...options) {
  const dashboard = start(program, ["dashboard", "--connect", connect, "--base", "/locks", ...(options.includes("--listen") ? [] : ["--listen", "127.0.0.1:0"]), ...options]);
  dashboard.url = await dashboard.line();
  return dashboard;
}

/** Nodes, made by Kazoo: `await nodes({ do: "lock", path })`. */
export async function startNodes(connect) {
  const peer = start(python, [new URL("nodes.py", import.meta.url).pathname, connect]);
  await peer.line();
  const nodes = async (order) => {
    peer.stdin.write(`${JSON.stringify(order)}\n`);
    return JSON.parse(await peer.line());
  };
  nodes.process = peer;
  return nodes;
}

/** Holds the lock until it is killed; `zklock run` prints nothing of its own. The session of a killed one ends soon. */
export const run = (connect, path, ...options) =>
  start(program, ["run", path, "--connect", connect, "--session-timeout", "2s", ...options, "--", "sh", "-c", "echo held; sleep 300"]);

let browser = null;
// The versions matter when something fails, and nobody asks otherwise.
process.on("exit", (code) => {
  if (code === 0) return;
  const { version } = createRequire(import.meta.url)("playwright-core/package.json");
  console.error(`with playwright-core ${version} and ${browser ? `chromium ${browser.version()}` : `no browser; it would be ${browserPath}`}`);
});
after(async () => { if (browser) await browser.close(); });
export async function openPage(url, options = {}) {
  // As root there is no sandbox; the pages are the dashboard's own.
  browser ??= await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--force-color-profile=srgb"] });
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  page.problems = [];
  page.on("pageerror", (error) => page.problems.push(String(error)));
  page.on("console", (message) => { if (message.type() === "error") page.problems.push(message.text()); });
  page.setDefaultTimeout(limit);
  await page.goto(url);
  return page;
}

/** The row of a lock. */
export const row = (page, path) => page.locator(`[role="row"][data-path=${JSON.stringify(path)}]`);

export const sees = (page, path, text) => row(page, path).filter({ hasText: text }).waitFor();

/** How long it takes until the condition holds. To be printed: a machine that others use bounds no such time. */
export async function took(wait) {
  const began = performance.now();
  await wait();
  return performance.now() - began;
}

/** The processor time that the page's main thread takes for its tasks until the condition holds, in milliseconds. */
export async function worked(page, wait) {
  const session = await page.context().newCDPSession(page);
  const seconds = async () => (await session.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration").value;
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const before = await seconds();
  await wait();
  const after = await seconds();
  await session.detach();
  return (after - before) * 1_000;
}

/** The processes that a process has started, and those that these have. */
export function descendantsOf(pid) {
  const children = readdirSync(`/proc/${pid}/task`)
    .flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number));
  return children.flatMap((child) => [child, ...descendantsOf(child)]);
}

export const screenshots = process.env.ZKLOCK_SCREENSHOTS;
export const shoot = async (page, name) => { if (screenshots) await page.screenshot({ path: `${screenshots}/${name}.png` }); };
