import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { html } from "./html.mjs";
import { age, client, gravity, split, visible } from "./format.mjs";
import { held, orders } from "./rows.mjs";
import { now, state } from "./store.mjs";

const height = 30;
const beyond = 8; // rows outside the visible part that are in the page, too

const columns = [
  { key: "path", title: "Lock" },
  { key: "kind", title: "Kind" },
  { key: "holder", title: "Held by" },
  { key: "held", title: "For", right: true },
  { key: "waiting", title: "Queue" },
  { key: "wait", title: "Longest wait", right: true },
];

export function Path({ path }) {
  const [base, rest] = split(path, state.hello ? state.hello.bases : []);
  return html`<bdi class="path" title=${visible(path)}><span class="base">${visible(base)}</span>${visible(rest)}</bdi>`;
}

export function Holder({ one }) {
  if (!one.known) return html`<span class="faint">\u2026</span>`;
  if (!one.client) return html`<code class="session">${one.session === "0x0" ? "no session" : visible(one.session)}</code>`;
  const [name, random] = client(one.client);
  return html`<bdi class="client" title=${`${visible(one.client)}, session ${one.session}`}>${visible(name)}<span class="random">${random}</span></bdi>`;
}

// Filled: holds. Hollow: waits.
function Queue({ lock }) {
  const shown = Math.min(lock.holders, 4);
  const waiting = Math.min(lock.waiting, 8 - shown);
  const more = lock.holders - shown + lock.waiting - waiting;
  const words = `${lock.holders} holding, ${lock.waiting} waiting`;
  return html`<span class="dots" role="img" aria-label=${words} title=${words}><b>${"\u25cf".repeat(shown)}</b>${"\u25cb".repeat(waiting)}${
    more > 0 && html`<small>+${more}</small>`}</span>`;
}

function Row({ lock, index, isSelected, isOpen, time, pick }) {
  const wait = lock.waiter_since === null ? null : time - lock.waiter_since;
  const since = held(lock);
  const grave = gravity(wait);
  const stale = !lock.live || !state.status?.connected;
  return html`
    <div role="row" id="row-${index}" aria-rowindex=${index + 2} aria-selected=${isSelected ? "true" : "false"}
      class="row ${isSelected ? "selected" : ""} ${isOpen ? "open" : ""} ${stale ? "stale" : ""} ${lock.holders ? "" : "free"}"
      style=${{ top: `${index * height}px` }} data-path=${lock.path} onClick=${() => pick(lock.path)}>
      <div role="gridcell" class="cell-path"><${Path} path=${lock.path} />${!lock.readable && html`<span class="tag">no permission</span>`}</div>
      <div role="gridcell" class="cell-kind">${lock.kind}</div>
      <div role="gridcell" class="cell-holder">${lock.holders === 0 ? html`<span class="faint">free</span>` : html`<${Holder} one=${lock.holder} />`}${
        lock.holders > 1 && html`<span class="faint others">+${lock.holders - 1}</span>`}${
        lock.holder && lock.holder.count > 1 && html`<span class="tag" title="entered ${lock.holder.count} times">\u00d7${lock.holder.count}</span>`}${
        lock.holder && lock.holder.asked && html`<span class="tag asked">asked</span>`}</div>
      <div role="gridcell" class="number">${since === null ? "" : age(time - since)}</div>
      <div role="gridcell"><${Queue} lock=${lock} /></div>
      <div role="gridcell" class="number wait ${grave}">${wait === null ? "" : html`${grave === "bad" && html`<i aria-label="for long">\u25b2</i>`}${age(wait)}`}</div>
    </div>`;
}

function Heading({ column, order, setOrder }) {
  const isOrder = order.key === column.key;
  const turn = () => setOrder(isOrder ? { key: column.key, reversed: !order.reversed } : { key: column.key, reversed: false });
  return html`
    <div role="columnheader" class=${column.right ? "number" : ""} aria-sort=${isOrder ? (order.reversed ? "descending" : "ascending") : "none"}>
      <button type="button" tabindex="-1" onClick=${turn} title="Sort by ${orders[column.key].title}">${column.title}${isOrder && html`<i aria-hidden="true">${order.reversed ? "\u2191" : "\u2193"}</i>`}</button>
    </div>`;
}

export function List({ rows, order, setOrder, selected, select, open, setOpen, show, grid, filtered }) {
  const [part, setPart] = useState({ first: 0, last: 60 });
  const body = useRef(null);
  const at = Math.max(0, rows.findIndex((lock) => lock.path === selected));
  const measure = () => {
    const box = body.current;
    const first = Math.floor(box.scrollTop / height);
    const last = Math.ceil((box.scrollTop + box.clientHeight) / height);
    setPart((old) => (old.first === first && old.last === last ? old : { first, last }));
  };
  useLayoutEffect(measure);
  useEffect(() => {
    addEventListener("resize", measure);
    grid.current.focus();
    return () => removeEventListener("resize", measure);
  }, []);
  const seen = rows.slice(part.first, part.last).map((lock) => lock.path);
  useEffect(() => show(seen), [seen.join("\n")]);

  const go = (to) => {
    const index = Math.min(Math.max(to, 0), rows.length - 1);
    if (index < 0) return;
    select(rows[index].path);
    const box = body.current;
    if (index * height < box.scrollTop) box.scrollTop = index * height;
    if ((index + 1) * height > box.scrollTop + box.clientHeight) box.scrollTop = (index + 1) * height - box.clientHeight;
    if (open !== null) setOpen(rows[index].path);
  };
  const press = (event) => {
    const page = Math.max(1, part.last - part.first - 2);
    const here = selected === null ? -1 : at;
    const moves = { j: here + 1, ArrowDown: here + 1, k: at - 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: rows.length - 1 };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in moves) go(moves[event.key]);
    else if (event.key === "Enter" && rows.length) setOpen(rows[at].path);
    else return;
    event.preventDefault();
  };
  const pick = (path) => {
    select(path);
    setOpen(path);
  };

  const time = now();
  const first = Math.max(0, part.first - beyond);
  const visibleRows = rows.slice(first, part.last + beyond);
  const active = selected !== null && at >= first && at < part.last + beyond;
  return html`
    <section class="list" aria-label="Locks">
      <div role="grid" class="grid" aria-label="Locks, ${orders[order.key].title} first" aria-rowcount=${rows.length + 1} tabindex="0" ref=${grid}
        aria-activedescendant=${active ? `row-${at}` : undefined} onKeyDown=${press}>
        <div role="rowgroup" class="head"><div role="row" class="row" aria-rowindex="1">${columns.map((column) => html`<${Heading} key=${column.key} column=${column} order=${order} setOrder=${setOrder} />`)}</div></div>
        <div role="rowgroup" class="body" ref=${body} onScroll=${measure}>
          <div class="space" role="presentation" style=${{ height: `${rows.length * height}px` }}>${visibleRows.map((lock, i) => html`<${Row} key=${lock.path} lock=${lock} index=${first + i}
            isSelected=${lock.path === selected} isOpen=${lock.path === open} time=${time} pick=${pick} />`)}</div>
        </div>
      </div>
      ${rows.length === 0 && html`<p class="nothing">${filtered ? "No lock matches." : state.status?.connected ? "No client holds or waits for a lock here." : "Nothing was read yet."}</p>`}
    </section>`;
}
