// Five thousand locks.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { get, request } from "node:http";
import { before, test } from "node:test";
import { openPage, row, shoot, startDashboard, startNodes, startServer, took } from "./stage.mjs";

let server, nodes, dashboard;
before(async () => {
  server = await startServer();
  nodes = await startNodes(server.connect);
  await nodes({ do: "locks", base: "/locks", number: 5000 });
  dashboard = await startDashboard(server.connect);
});

const residentMegabytes = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${dashboard.pid}/status`, "utf8"))[1]) / 1024;

test("five thousand locks: painted within a second, and scrolled without a long frame", async () => {
  const first = await openPage(dashboard.url);
  await first.locator(".figure dd").first().filter({ hasText: "5,000" }).waitFor({ timeout: 100_000 });
  const page = await openPage("about:blank");
  // Another process may take the processor for a while: the best of three counts, here and below.
  let painted = Infinity;
  for (let left = 3; left > 0 && painted >= 1_000; left--) {
    await page.goto("about:blank");
    const again = await took(async () => {
      await page.goto(dashboard.url, { waitUntil: "commit" });
      await row(page, "/locks/lock-of-0000-x").waitFor();
    });
    painted = Math.min(painted, again);
  }
  const rows = await page.locator(".space .row").count();
  assert.ok(rows < 100, `${rows} rows are in the page`);

  const scroll = () => page.evaluate(() => new Promise((done) => {
    const body = document.querySelector(".body");
    const times = [];
    let before = performance.now();
    const step = (now) => {
      times.push(now - before);
      before = now;
      body.scrollTop += 240;
      if (times.length < 240) requestAnimationFrame(step);
      else done(times.slice(2).sort((a, b) => b - a));
    };
    body.scrollTop = 0;
    requestAnimationFrame(step);
  }));
  let frames = await scroll();
  for (let left = 2; left > 0 && frames[0] >= 50; left--) {
    const again = await scroll();
    if (again[0] < frames[0]) frames = again;
  }
  await page.keyboard.press("End");
  await row(page, "/locks/lock-of-4999-x").waitFor();
  const found = await took(async () => {
    await page.keyboard.press("/");
    await page.keyboard.type("4321");
    await row(page, "/locks/lock-of-4999-x").waitFor({ state: "detached" });
  });
  await shoot(first, "many");
  console.log(`first paint ${painted.toFixed(0)} ms; frames: longest ${frames[0].toFixed(0)} ms, 99 % ${frames[2].toFixed(0)} ms, ` +
    `median ${frames[frames.length / 2 | 0].toFixed(0)} ms; search ${found.toFixed(0)} ms`);
  assert.ok(painted < 1_000, `painted after ${painted} ms`);
  assert.ok(frames[0] < 50, `a frame of ${frames[0]} ms`);
  await first.context().close();
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

/** A viewer without a page: its stream is read and dropped, and it looks at these locks. */
function view(seen) {
  return new Promise((done, fail) => {
    const { hostname: host, port } = new URL(dashboard.url);
    const stream = get({ host, port, path: "/api/stream", agent: false }, (reply) => {
      if (reply.statusCode !== 200) fail(new Error(`a viewer: ${reply.statusCode}`));
      let text = "";
      const hear = (data) => {
        text += data;
        const id = /"stream":"([^"]+)"/.exec(text)?.[1];
        if (!id) return;
        reply.off("data", hear).resume();
        const headers = { "content-type": "application/json", "x-zklock": "1" };
        const post = request({ host, port, path: "/api/view", method: "POST", headers, agent: false }, (answer) => {
          answer.resume();
          done(stream);
        });
        post.on("error", fail);
        post.end(JSON.stringify({ stream: id, seen, open: null }));
      };
      reply.setEncoding("utf8").on("data", hear);
    });
    stream.on("error", fail);
  });
}

async function reads() {
  const { hostname: host, port } = new URL(dashboard.url);
  const text = await new Promise((done, fail) => get({ host, port, path: "/metrics" }, (reply) => {
    let all = "";
    reply.on("data", (data) => { all += data; }).on("end", () => done(all));
  }).on("error", fail));
  return Number(/zklock_dashboard_reads_total (\d+)/.exec(text)[1]);
}

test("thirty-two viewers of five thousand locks: a grant is on the page within half a second, within the budget", async () => {
  const path = "/locks/lock-of-0002-x";
  const page = await openPage(dashboard.url);
  await row(page, path).waitFor(); // before that the page takes no key
  await page.keyboard.press("/");
  await page.keyboard.type("of-0002"); // or else the row of a young holder would be the last one
  await row(page, "/locks/lock-of-0001-x").waitFor({ state: "detached" });
  await row(page, path).locator(".client").waitFor();
  const viewers = [];
  for (let i = 1; i < 32; i++) {
    const seen = Array.from({ length: 40 }, (_, j) => `/locks/lock-of-${String((i * 150 + j) % 5000).padStart(4, "0")}-x`);
    viewers.push(await view(seen));
  }
  const began = performance.now();
  const readsBefore = await reads();
  let holder = await nodes({ do: "node", path: `${path}/lock-`, data: "client-0:1" });
  await nodes({ do: "delete", path: `${path}/lock-0000000000` });
  await row(page, path).locator(".client").filter({ hasText: "client-0" }).waitFor();
  const times = [];
  for (let i = 1; i <= 11; i++) {
    const next = await nodes({ do: "node", path: `${path}/lock-`, data: `client-${i}:1` });
    await row(page, path).locator('.dots[aria-label="1 holding, 1 waiting"]').waitFor();
    times.push(await took(async () => {
      await nodes({ do: "delete", path: holder });
      await row(page, path).locator(".client").filter({ hasText: new RegExp(`client-${i}$`) }).waitFor();
    }));
    holder = next;
  }
  const rate = (await reads() - readsBefore) / ((performance.now() - began) / 1000);
  times.sort((a, b) => a - b);
  const resident = residentMegabytes();
  for (const one of viewers) one.destroy();
  console.log(`32 viewers: a grant is on the page after ${times[5].toFixed(0)} ms (median), ${times[10].toFixed(0)} ms (longest of 11); ` +
    `${rate.toFixed(0)} reads a second; the dashboard has ${resident.toFixed(0)} MB`);
  assert.ok(times[5] < 500, `the median is ${times[5]} ms`);
  assert.ok(rate <= 550, `${rate} reads a second`); // 500 by default, and what was saved up
  assert.ok(resident < 150, `${resident} MB`);
  await page.context().close();
});
