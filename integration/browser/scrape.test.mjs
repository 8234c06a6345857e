// Plots from the services' metrics.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, test } from "node:test";
import { openPage, shoot, startDashboard, startServer } from "./stage.mjs";

test("waiting and holding times of the services are plotted, also when one of them does not answer", async () => {
  let asked = 0;
  const service = createServer((request, reply) => {
    asked++;
    const lines = [];
    for (const name of ["zklock_acquire_wait_seconds", "zklock_hold_seconds"])
      for (const [bound, share] of [["0.01", 5], ["0.1", 9], ["1", 10], ["+Inf", 10]])
        lines.push(`${name}_bucket{lock="/locks/a",le="${bound}"} ${share * asked}`);
    reply.end(`${lines.join("\n")}\nother_metric 7\nzklock_broken{\n`);
  }).listen(0, "127.0.0.1");
  after(() => service.close());
  await new Promise((done) => service.once("listening", done));
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  after(() => { silent.closeAllConnections(); silent.close(); });
  await new Promise((done) => silent.once("listening", done));

  const server = await startServer();
  const url = (one) => `http://127.0.0.1:${one.address().port}/metrics`;
  const dashboard = await startDashboard(server.connect, "--scrape", url(service), "--scrape", url(silent));
  const page = await openPage(dashboard.url);
  const plot = (title) => page.locator(".plot").filter({ hasText: title }).locator('[role="img"]');
  // Five of ten observations are in the first bucket, nine in the second.
  await page.waitForFunction(() => /median 0\.01 s/.test(document.querySelectorAll(".plot [role=img]")[1]?.getAttribute("aria-label")), null, { timeout: 30_000 });
  for (const title of ["Waiting time", "Hold time"])
    assert.match(await plot(title).getAttribute("aria-label"), /^median 0\.01 s, 99 of 100 0\.9\d* s$/);
  assert.ok(asked >= 2);
  await shoot(page, "plots");
  assert.deepEqual(page.problems, []);
});
