// What the page may do, and what other pages may not.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openPage, row, run, says, startDashboard, startNodes, startServer, took } from "./stage.mjs";

const directory = mkdtempSync(join(tmpdir(), "zklock-browser-"));
after(() => rmSync(directory, { recursive: true }));
const token = "a-token-for-this-test-0123456789";
let server, open, closed, printed, nodes, slow;

/** How long the dashboard waits for a request that does not come to its end. */
const slowRequest = (url) => took(() => new Promise((done, fail) => {
  const { hostname, port } = new URL(url);
  connect(port, hostname, function () { this.write("GET / HTTP/1.1\r\n"); }).on("error", fail).on("close", done).resume();
}));

before(async () => {
  server = await startServer();
  nodes = await startNodes(server.connect);
  await nodes({ do: "node", path: "/locks/first/lock-", data: "ann:1" });
  writeFileSync(join(directory, "token"), `${token}\n`);
  open = await startDashboard(server.connect);
  closed = await startDashboard(server.connect, "--allow-revoke", "--token-file", join(directory, "token"));
  printed = closed.url;
  closed.url += `#token=${token}`;
  slow = slowRequest(open.url); // the tests go on meanwhile
});

/** A request with exactly these headers: fetch would set some by itself. */
const ask = (url, path, { method = "GET", headers = {}, body } = {}) => new Promise((done, fail) => {
  const { hostname, port } = new URL(url);
  const asked = request({ host: hostname, port, path, method, headers: { host: `${hostname}:${port}`, ...headers }, setHost: false }, (reply) => {
    let text = "";
    const answer = () => done({ status: reply.statusCode, headers: reply.headers, text });
    if (reply.headers["content-type"] === "text/event-stream") {
      reply.once("data", (data) => { text += data; asked.destroy(); answer(); });
    } else {
      reply.on("data", (data) => { text += data; });
      reply.on("end", answer);
    }
  });
  asked.on("error", fail);
  asked.end(body);
});
const own = { "content-type": "application/json", "x-zklock": "1" };
const bearer = { authorization: `Bearer ${token}` };

test("a page of another host is refused on every path but those of probes", async () => {
  for (const path of ["/livez", "/readyz"]) assert.equal((await ask(open.url, path, { headers: { host: "evil.example" } })).status, 200, path);
  for (const path of ["/", "/api/stream", "/api/session", "/metrics"]) {
    assert.equal((await ask(open.url, path, { headers: { host: "evil.example" } })).status, 403, path);
    assert.equal((await ask(open.url, path)).status, path === "/api/session" ? 204 : 200, path);
  }
});

test("every reply has the headers that keep other pages out, and none that lets them in", async () => {
  const page = await ask(open.url, "/");
  const hash = (element) => createHash("sha256").update(new RegExp(`<${element}>([^]*?)</${element}>`).exec(page.text)[1]).digest("base64");
  assert.equal(page.headers["content-security-policy"], `default-src 'none'; script-src 'sha256-${hash("script")}'; ` +
    `style-src 'sha256-${hash("style")}'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`);
  assert.ok(Buffer.byteLength(page.text) <= 150_000, `the page has ${Buffer.byteLength(page.text)} bytes`);
  for (const path of ["/", "/api/stream", "/metrics", "/nothing"]) {
    const { headers } = await ask(open.url, path);
    if (path !== "/") assert.equal(headers["content-security-policy"], "default-src 'none'; frame-ancestors 'none'", path);
    assert.equal(headers["x-content-type-options"], "nosniff", path);
    assert.equal(headers["referrer-policy"], "no-referrer", path);
    assert.equal(headers["cross-origin-resource-policy"], "same-origin", path);
    assert.equal(headers["cache-control"], "no-store", path);
    assert.deepEqual(Object.keys(headers).filter((name) => name.startsWith("access-control")), [], path);
  }
});

test("with a token nothing but the page and the probes is served without it", async () => {
  for (const path of ["/livez", "/readyz"]) assert.equal((await ask(closed.url, path)).status, 200, path);
  for (const path of ["/api/stream", "/api/session", "/metrics"]) {
    assert.equal((await ask(closed.url, path)).status, 401, path);
    assert.ok((await ask(closed.url, path, { headers: bearer })).status < 300, path);
  }
  assert.equal((await ask(closed.url, "/api/session", { method: "POST", headers: own, body: `{"token":"wrong-token-0123456789"}` })).status, 401);
  const session = await ask(closed.url, "/api/session", { method: "POST", headers: own, body: JSON.stringify({ token }) });
  assert.equal(session.status, 204);
  assert.match(session.headers["set-cookie"][0], /^zklock-\d+=[^;]+; HttpOnly; SameSite=Strict; Path=\/$/);
  const cookie = session.headers["set-cookie"][0].split(";")[0];
  assert.equal((await ask(closed.url, "/api/session", { headers: { cookie } })).status, 204);
});

test("the token comes in the address's part that is not sent, and goes from it at once; one of a file is not printed", async () => {
  assert.doesNotMatch(printed, /token/);
  const page = await openPage(closed.url);
  const sent = [];
  page.on("request", (one) => sent.push(one.url()));
  await page.getByRole("status").filter({ hasText: "live" }).waitFor();
  assert.ok(!page.url().includes("token"));
  assert.ok(sent.every((url) => !url.includes(token)));
  assert.equal(await page.evaluate(() => document.cookie), ""); // HttpOnly
  await page.reload();
  await page.getByRole("status").filter({ hasText: "live" }).waitFor();
  await page.context().close();
});

test("without the token the page asks for it", async () => {
  const page = await openPage(closed.url.replace(/#.*/, ""));
  const field = page.getByLabel("The token");
  await field.fill("not-the-token-at-all");
  await page.getByRole("button", { name: "open" }).click();
  await page.getByRole("alert").waitFor();
  await field.fill(token);
  await page.getByRole("button", { name: "open" }).click();
  await page.getByRole("status").filter({ hasText: "live" }).waitFor();
  await page.context().close();
});

test("the page asks a holder to release its lock, after it has asked once more, and says so in a record", async () => {
  const holder = run(server.connect, "/locks/asked", "--revocable");
  await holder.line();
  const ended = new Promise((done) => holder.once("exit", done)); // perhaps before the record is written
  const page = await openPage(closed.url);
  await row(page, "/locks/asked").click();
  await page.getByRole("button", { name: "ask to release" }).click();
  await page.getByRole("button", { name: "ask this holder" }).click();
  const record = JSON.parse(await closed.line());
  assert.deepEqual(Object.keys(record).slice(0, 3), ["@timestamp", "log.level", "message"]);
  assert.equal(record["event.action"], "lock.revoke");
  assert.equal(record["event.outcome"], "success");
  assert.equal(record["zklock.asked_by"], "zklock dashboard");
  assert.equal(record["zklock.lock.path"], "/locks/asked");
  assert.match(record["zklock.node"], /^_c_.*lock-/);
  await ended;
  await page.context().close();
});

test("a revocation names a lock's node below the base and its czxid, or does nothing, and a record says so", async () => {
  const node = await nodes({ do: "node", path: "/locks/kept/lock-", data: "ann:1" });
  const outside = await nodes({ do: "node", path: "/elsewhere/lock-", data: "ann:1" });
  const read = async () => [await nodes({ do: "read", path: node }), await nodes({ do: "read", path: outside })];
  const before = await read();
  const [{ czxid }, { czxid: outer }] = before;
  const revoke = async (url, body, headers = { ...own, ...bearer }) =>
    (await ask(url, "/api/revoke", { method: "POST", headers, body: JSON.stringify(body) })).status;
  assert.equal(await revoke(open.url, { node, czxid }), 403); // it is read-only
  assert.equal(await revoke(closed.url, { node, czxid }, own), 401);
  assert.equal(await revoke(closed.url, []), 400);
  // These have the token, so each has a record.
  const refused = async (body, status, path, name) => {
    assert.equal(await revoke(closed.url, body), status);
    const record = JSON.parse(await closed.line());
    assert.equal(record["event.action"], "lock.revoke");
    assert.equal(record["event.outcome"], "failure");
    assert.equal(record["log.level"], "warn");
    assert.equal(record["zklock.asked_by"], "zklock dashboard");
    assert.equal(record["zklock.lock.path"], path);
    assert.equal(record["zklock.node"], name);
  };
  const name = "lock-0000000000";
  await refused({ node, czxid: String(Number(czxid) + 1) }, 409, "/locks/kept", name);
  await refused({ node: "/locks/kept/lock-0000000099", czxid }, 409, "/locks/kept", "lock-0000000099");
  await refused({ node: outside, czxid: outer }, 403, "/elsewhere", name);
  await refused({ node: `/locks/..${outside}`, czxid: outer }, 403, "/locks/../elsewhere", name);
  await refused({ node: "/locks/kept", czxid }, 403, "/locks", "kept");
  assert.equal(await revoke(closed.url, {}), 403);
  assert.equal(JSON.parse(await closed.line())["event.outcome"], "failure");
  assert.deepEqual(await read(), before); // the nodes, with their data and their versions
});

test("requests that are too large, too slow or too many are ended", async () => {
  const large = await ask(open.url, "/api/view", { method: "POST", headers: own, body: JSON.stringify({ open: "x".repeat(5000) }) });
  assert.equal(large.status, 413);
  const headers = await ask(open.url, "/", { headers: { padding: "x".repeat(9000) } }).catch(() => ({ status: 431 }));
  assert.equal(headers.status, 431);
  const streams = [];
  const stream = () => new Promise((done) => {
    const { hostname, port } = new URL(open.url);
    const asked = request({ host: hostname, port, path: "/api/stream" }, (reply) => done(reply.statusCode));
    asked.on("error", () => {});
    streams.push(asked);
    asked.end();
  });
  const outcomes = [];
  for (let i = 0; i < 33; i++) outcomes.push(await stream());
  for (const one of streams) one.destroy();
  assert.equal(outcomes.filter((status) => status === 200).length, 32);
  assert.equal(outcomes[32], 503);
  const waited = await slow;
  assert.ok(waited > 9_900, `a request that did not come to its end was waited for ${waited} ms`);
});

test("elsewhere than on loopback there is a token, whether asked for or not, and a warning that there is no TLS", async () => {
  const everywhere = await startDashboard(server.connect, "--listen", "0.0.0.0:0");
  assert.match(everywhere.url, /^http:\/\/0\.0\.0\.0:\d+\/#token=[0-9a-f]{64}$/);
  await says(everywhere, /there is no TLS/);
  const may = await startDashboard(server.connect, "--allow-revoke");
  assert.match(may.url, /^http:\/\/127\.0\.0\.1:\d+\/#token=[0-9a-f]{64}$/);
  assert.doesNotMatch(open.url, /token/);
  for (const one of [open, closed, may]) assert.doesNotMatch(one.said, /TLS/);
});
