import { html } from "./html.mjs";
import { age, gravity, split, visible } from "./format.mjs";
import { Plot } from "./plot.mjs";
import { Holder } from "./list.mjs";
import { now, state } from "./store.mjs";

const shownLeaves = 3; // of the clients that block nobody and wait for the same lock

// The tree's entries; of many leaves beside each other the first ones, and how many more there are.
function brief(tree) {
  const rows = [];
  const above = []; // the lock that the last entry of each depth shows
  let leaves = 0;
  tree.forEach((one, i) => {
    above[one.depth] = one.lock;
    const isSaid = one.depth === 1 && above[0] === one.lock; // by the holder's entry
    const isLeaf = one.depth > 0 && one.blocked === 0 && !one.circle;
    const last = tree[i - 1];
    const goesOn = isLeaf && last && last.depth === one.depth && last.lock === one.lock && last.blocked === 0;
    leaves = goesOn ? leaves + 1 : isLeaf ? 1 : 0;
    if (leaves <= shownLeaves) rows.push({ ...one, isSaid, more: 0 });
    else if (leaves === shownLeaves + 1) rows.push({ ...one, isSaid, more: 1 });
    else rows[rows.length - 1].more++;
  });
  return rows;
}

function Branch({ one, time, setOpen }) {
  const lock = one.isSaid ? html`<span class="lock">waits</span>` : html`<button type="button" class="lock" onClick=${() => setOpen(one.lock)}>${one.depth ? "waits for" : "holds"} <bdi title=${visible(one.lock)}>${visible(split(one.lock, state.hello.bases)[1])}</bdi></button>`;
  return html`
    <li style=${{ "--depth": Math.min(one.depth, 8) }} class=${one.depth ? "waits" : "root"}>
      <span class="joint" aria-hidden="true">${one.depth ? "\u2514" : "\u25cf"}</span>
      ${one.more > 0 ? html`<span class="faint rest">and ${one.more} more</span>` : html`<${Holder} one=${one} />${one.circle && html`<span class="tag asked">circle</span>`}${lock}
      <span class="number ${one.depth ? gravity(time - one.since) : "faint"}">${one.depth ? age(time - one.since) : `${one.blocked} blocked`}</span>`}
    </li>`;
}

function Tree({ setOpen }) {
  if (!state.tree.length) return html`<p class="nothing">No client waits for another one.</p>`;
  const time = now();
  return html`<ul class="tree">${brief(state.tree).map((one) => html`<${Branch} key=${`${one.node} ${one.depth}`} one=${one} time=${time} setOpen=${setOpen} />`)}</ul>`;
}

function Findings() {
  if (!state.findings.length) return html`<p class="nothing">Nothing wrong was found.</p>`;
  return html`<ul class="findings">${state.findings.map((one) => html`
    <li key=${one.kind + one.node} class=${one.severity}>
      <p class="head"><b>${one.severity === "problem" ? "\u25b2 " : ""}${one.kind}</b><bdi>${visible(one.node)}</bdi></p>
      <p>${visible(one.what)}</p><p class="faint">${visible(one.remedy)}</p>
    </li>`)}</ul>`;
}

export function Overview({ setOpen }) {
  const problems = state.findings.filter((one) => one.severity === "problem").length;
  const trend = state.trend;
  const axis = trend.map((point) => point.at / 1000);
  const { status } = state;
  return html`
    <aside class="side overview" aria-label="Overview" tabindex="0">
      <h2>Now</h2>
      <${Plot} title="The last hour" unit="" axis=${axis} series=${[{ name: "clients waiting", colour: "--wait", values: trend.map((point) => point.waiting) },
        { name: "locks held", colour: "--hold", values: trend.map((point) => point.held) }]} />
      ${state.plots.map((plot) => html`<${Plot} key=${plot.title} title=${plot.title} unit="s" axis=${plot.at.map((at) => at / 1000)} series=${plot.series} />`)}
      <h2>Who blocks whom</h2>
      <${Tree} setOpen=${setOpen} />
      <h2>Findings${problems > 0 && html`<small class="tag asked">${problems}</small>`}</h2>
      <${Findings} />
      ${status && html`<p class="cost" title="What this page costs ZooKeeper">${status.reads_per_second} reads/s, ${status.watches} watches, ${
        status.viewers} viewer${status.viewers === 1 ? "" : "s"}; the rest as of \u2264 ${age(status.oldest)} ago</p>`}
    </aside>`;
}
