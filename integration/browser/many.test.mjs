// Five thousand locks.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { get, request } from "node:http";
import { afterEach, before, test } from "node:test";
import { openPage, row, shoot, startDashboard, startNodes, startServer, took, worked } from "./stage.mjs";

let server, nodes, dashboard;
before(async () => {
  server = await startServer();
  nodes = await startNodes(server.connect);
  await nodes({ do: "locks", base: "/locks", number: 5000 });
  dashboard = await startDashboard(server.connect);
});

// What a test leaves open would take the viewers' places in the next.
const opened = [];
afterEach(async () => { for (const one of opened.splice(0)) await one(); });
const visit = async (url) => {
  const page = await openPage(url);
  opened.push(() => page.context().close());
  return page;
};

const residentMegabytes = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${dashboard.pid}/status`, "utf8"))[1]) / 1024;

test("five thousand locks: painted and scrolled with little work", async () => {
  const first = await visit(dashboard.url);
  await first.locator(".figure dd").first().filter({ hasText: "5,000" }).waitFor({ timeout: 100_000 });
  const page = await visit("about:blank");
  let elapsed;
  const painted = await worked(page, async () => {
    elapsed = await took(async () => {
      await page.goto(dashboard.url, { waitUntil: "commit" });
      await row(page, "/locks/lock-of-0000-x").waitFor();
    });
  });
  const rows = await page.locator(".space .row").count();
  assert.ok(rows < 100, `${rows} rows are in the page`);

  const frames = 240;
  const scrolled = await worked(page, () => page.evaluate((left) => new Promise((done) => {
    const body = document.querySelector(".body");
    body.scrollTop = 0;
    const step = () => {
      body.scrollTop += 240;
      if (left-- > 0) requestAnimationFrame(step);
      else done();
    };
    requestAnimationFrame(step);
  }), frames)) / frames;
  await page.keyboard.press("End");
  await row(page, "/locks/lock-of-4999-x").waitFor();
  const found = await worked(page, async () => {
    await page.keyboard.press("/");
    await page.keyboard.type("4321");
    await row(page, "/locks/lock-of-4999-x").waitFor({ state: "detached" });
  });
  await shoot(first, "many");
  console.log(`first paint ${elapsed.toFixed(0)} ms; the page's thread worked ${painted.toFixed(0)} ms for it, ${scrolled.toFixed(1)} ms a frame, ` +
    `${found.toFixed(0)} ms for a search`);
  assert.ok(painted < 1_000, `painted with ${painted} ms of work`);
  assert.ok(scrolled < 40, `${scrolled} ms of work a frame`);
  assert.deepEqual(page.problems, []);
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

test("thirty-two viewers of five thousand locks: a grant is on the page, within the budget of reads", async () => {
  const path = "/locks/lock-of-0002-x";
  const page = await visit(dashboard.url);
  await row(page, path).waitFor(); // before that the page takes no key
  await page.keyboard.press("/");
  await page.keyboard.type("of-0002"); // or else the row of a young holder would be the last one
  await row(page, "/locks/lock-of-0001-x").waitFor({ state: "detached" });
  await row(page, path).locator(".client").waitFor();
  for (let i = 1; i < 32; i++) {
    const seen = Array.from({ length: 40 }, (_, j) => `/locks/lock-of-${String((i * 150 + j) % 5000).padStart(4, "0")}-x`);
    const viewer = await view(seen);
    opened.push(() => viewer.destroy());
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
  console.log(`32 viewers: a grant is on the page after ${times[5].toFixed(0)} ms (median), ${times[10].toFixed(0)} ms (longest of 11); ` +
    `${rate.toFixed(0)} reads a second; the dashboard has ${resident.toFixed(0)} MB`);
  assert.ok(rate <= 550, `${rate} reads a second`); // 500 by default, and what was saved up
  assert.ok(resident < 150, `${resident} MB`);
});
