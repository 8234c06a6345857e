// What a user sees on the page.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, test } from "node:test";
import { descendantsOf, openPage, row, run, sees, shoot, startDashboard, startNodes, startServer, took } from "./stage.mjs";

let server, dashboard, nodes;
before(async () => {
  server = await startServer();
  nodes = await startNodes(server.connect);
  dashboard = await startDashboard(server.connect);
});

const queue = (page, path) => row(page, path).locator(".dots").getAttribute("aria-label");
const seesQueue = (page, path, words) => row(page, path).locator(`.dots[aria-label="${words}"]`).waitFor();

test("a lock, its contention and its next holder appear, also once a killed holder's session is over", async () => {
  const page = await openPage(dashboard.url);
  const path = "/locks/nightly";
  const first = run(server.connect, path);
  await first.line();
  await sees(page, path, "mutex");
  await seesQueue(page, path, "1 holding, 0 waiting");
  await page.locator(`[data-path="${path}"]:not(.stale)`).waitFor();
  const holder = await row(page, path).locator(".client").textContent();

  const appeared = [];
  const waiters = [];
  for (let waiting = 1; waiting <= 5; waiting++)
    appeared.push(await took(async () => {
      waiters.push(await nodes({ do: "node", path: `${path}/lock-`, data: `waiter-${waiting}:1` }));
      await seesQueue(page, path, `1 holding, ${waiting} waiting`);
    }));
  for (const one of waiters) await nodes({ do: "delete", path: one });

  const second = run(server.connect, path);
  const third = run(server.connect, path);
  await seesQueue(page, path, "1 holding, 2 waiting");
  first.stdin.end();
  first.kill("SIGTERM");
  const granted = await took(() => row(page, path).locator(".client").filter({ hasNotText: holder }).waitFor());
  await seesQueue(page, path, "1 holding, 1 waiting");

  const next = await row(page, path).locator(".client").textContent();
  const killed = [second, third].filter((one) => next.includes(`-${one.pid}-`));
  assert.equal(killed.length, 1, next);
  const handed = await took(async () => {
    killed[0].kill("SIGKILL");
    await row(page, path).locator(".client").filter({ hasNotText: next }).waitFor();
  });
  console.log(`contentions after ${appeared.map((one) => one.toFixed(0))} ms, the next holder after ${granted.toFixed(0)} ms, ` +
    `that of a killed one after ${handed.toFixed(0)} ms`);
  await seesQueue(page, path, "1 holding, 0 waiting");
  for (const one of [second, third]) one.kill("SIGKILL");
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test("the open lock shows its queue, node by node, and what has happened", async () => {
  const page = await openPage(dashboard.url);
  const path = "/locks/queue";
  const holder = run(server.connect, path, "--exclusive");
  await holder.line();
  const waiter = run(server.connect, path, "--shared");
  await seesQueue(page, path, "1 holding, 1 waiting");
  await row(page, path).click();
  const detail = page.getByLabel("The open lock");
  await detail.getByText("1 holder, 1 waiter").waitFor();
  await detail.locator(".place.holds").filter({ hasText: "write" }).waitFor();
  await detail.locator(".place:not(.holds)").filter({ hasText: "read" }).waitFor();
  await detail.locator(".what.granted").waitFor();
  assert.equal(await detail.getByText("ask to release").count(), 0); // it is read-only
  holder.kill("SIGTERM");
  await detail.locator(".what.released").waitFor();
  waiter.kill("SIGKILL");
  await page.context().close();
});

test("Kazoo's locks are there, too", async () => {
  const page = await openPage(dashboard.url);
  await nodes({ do: "lock", path: "/locks/python" });
  await sees(page, "/locks/python", "kazoo");
  await page.context().close();
});

test("the blocking tree shows who waits for whom, and a deadlock is found", async () => {
  const page = await openPage(dashboard.url);
  const other = await startNodes(server.connect);
  await nodes({ do: "node", path: "/locks/x/lock-", data: "ann:1" });
  await other({ do: "node", path: "/locks/y/lock-", data: "bob:1" });
  await other({ do: "node", path: "/locks/x/lock-", data: "bob:1" });
  const tree = page.locator(".tree");
  await tree.locator("li.root").filter({ hasText: "1 blocked" }).filter({ hasText: "ann" }).waitFor();
  await tree.locator("li.waits").filter({ hasText: "bob" }).waitFor();
  await nodes({ do: "node", path: "/locks/y/lock-", data: "ann:1" });
  await page.locator(".findings .problem").filter({ hasText: "deadlock" }).waitFor();
  await tree.getByText("circle").waitFor();
  await shoot(page, "deadlock");
  other.process.kill("SIGKILL");
  await page.context().close();
});

test("names that other programs have written are text, whatever they contain", async () => {
  const page = await openPage(dashboard.url);
  const hostile = [`/locks/<img src=x onerror="document.title='owned'">`, "/locks/\u202etxt.exe", `/locks/"><script>document.title='owned'</script>`, "/locks/${alert(1)}"];
  for (const path of hostile) await nodes({ do: "node", path: `${path}/lock-`, data: "<b>mallory</b>\u202e:1" });
  await page.getByText(`<img src=x onerror="document.title='owned'">`).first().waitFor();
  await page.getByText("\u27e8202E\u27e9txt.exe").first().waitFor();
  await page.getByText("<b>mallory</b>\u27e8202E\u27e9").first().waitFor();
  await row(page, hostile[0]).click();
  await page.getByLabel("The open lock").getByText("1 holder").waitFor();
  assert.equal(await page.title(), "zklock");
  assert.equal(await page.locator("#page img, #page script, #page b:has-text('mallory')").count(), 0);
  await shoot(page, "hostile");
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test("everything can be done by the keyboard", async () => {
  const page = await openPage(dashboard.url);
  await nodes({ do: "node", path: "/locks/keys-a/lock-", data: "one:1" });
  await nodes({ do: "node", path: "/locks/keys-b/lock-", data: "two:1" });
  await sees(page, "/locks/keys-b", "two");
  const press = (key) => page.keyboard.press(key);
  const selected = () => page.locator('[aria-selected="true"]').getAttribute("data-path");
  await press("/");
  await page.keyboard.type("keys- two");
  await row(page, "/locks/keys-a").waitFor({ state: "detached" });
  await press("Escape"); // clears, and goes back to the list
  await row(page, "/locks/keys-a").waitFor();
  await press("/");
  await page.keyboard.type("keys-");
  await row(page, "/locks/nightly").waitFor({ state: "detached" });
  await press("Enter");
  await press("j");
  assert.equal(await selected(), "/locks/keys-a");
  await press("ArrowDown");
  assert.equal(await selected(), "/locks/keys-b");
  await press("k");
  assert.equal(await selected(), "/locks/keys-a");
  await press("Enter");
  await page.getByLabel("The open lock").getByText("keys-a").waitFor();
  await press("j"); // the open lock follows
  await page.getByLabel("The open lock").getByText("keys-b").waitFor();
  await press("Escape");
  await page.getByLabel("Overview").waitFor();
  await press("?");
  await page.getByRole("dialog").waitFor();
  await press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const grid = page.getByRole("grid");
  assert.equal(await grid.evaluate((one) => one === document.activeElement), true);
  assert.equal(await grid.evaluate((one) => document.getElementById(one.getAttribute("aria-activedescendant")) !== null), true);
  await page.context().close();
});

test("axe finds nothing, by day and by night, in the list, a queue and the help", async () => {
  const axe = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
  await nodes({ do: "node", path: "/locks/axe/lock-", data: "ann:2" });
  await nodes({ do: "node", path: "/locks/axe/lock-", data: "bob:1" });
  for (const colorScheme of ["light", "dark"]) {
    const page = await openPage(dashboard.url, { colorScheme, reducedMotion: "reduce" });
    const check = async (where) => {
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run());
      const found = violations.flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.html} ${node.failureSummary}`));
      assert.deepEqual(found, [], `${where}, ${colorScheme}`);
    };
    await sees(page, "/locks/axe", "ann");
    await check("list");
    await row(page, "/locks/axe").click();
    await page.getByLabel("The open lock").getByText("1 holder, 1 waiter").waitFor();
    await check("queue");
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    await check("help");
    await page.context().close();
  }
});

test("while ZooKeeper is away the page says so and keeps what was seen, and goes on afterwards", async () => {
  const page = await openPage(dashboard.url);
  await nodes({ do: "node", path: "/locks/before/lock-", data: "ann:1" });
  await sees(page, "/locks/before", "ann");
  const jvm = descendantsOf(server.pid);
  assert.ok(jvm.length > 0);
  const signal = (name) => { for (const pid of jvm) process.kill(pid, name); };
  signal("SIGSTOP");
  try {
    await page.getByRole("status").filter({ hasText: "no ZooKeeper since" }).waitFor();
    await sees(page, "/locks/before", "ann");
    assert.match(await row(page, "/locks/before").getAttribute("class"), /stale/);
    await shoot(page, "away");
  } finally {
    signal("SIGCONT");
  }
  await page.getByRole("status").filter({ hasText: "live" }).waitFor();
  await page.context().close();
});

test("a hidden page closes its stream, a page without a dashboard tries again", async () => {
  const own = await startDashboard(server.connect);
  const page = await openPage(own.url);
  await page.getByRole("status").filter({ hasText: "live" }).waitFor();
  const other = await openPage(own.url);
  const seesViewers = (viewers) => other.locator(".cost").filter({ hasText: `, ${viewers};` }).waitFor();
  await seesViewers("2 viewers");
  await page.evaluate(() => {
    Object.defineProperty(document, "hidden", { value: true, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await seesViewers("1 viewer");
  await page.evaluate(() => {
    Object.defineProperty(document, "hidden", { value: false, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await seesViewers("2 viewers");
  await other.context().close();
  own.kill("SIGTERM");
  await page.getByRole("status").filter({ hasText: "no dashboard" }).waitFor();
  await page.context().close();
});
