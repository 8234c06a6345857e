// Which locks are shown, and in which order.

const time = (value) => (value === null ? Infinity : value);

export const orders = {
  wait: { title: "longest wait", compare: (a, b) => time(a.waiter_since) - time(b.waiter_since) || time(held(a)) - time(held(b)) },
  held: { title: "held longest", compare: (a, b) => time(held(a)) - time(held(b)) },
  waiting: { title: "most waiters", compare: (a, b) => b.waiting - a.waiting },
  path: { title: "name", compare: () => 0 },
  kind: { title: "kind", compare: (a, b) => (a.kind < b.kind ? -1 : a.kind > b.kind ? 1 : 0) },
  holder: { title: "holder", compare: (a, b) => name(a).localeCompare(name(b)) },
};

export const held = (lock) => (lock.holder && lock.holder.known ? lock.holder.since : null);
const name = (lock) => (lock.holder ? lock.holder.client || lock.holder.session || "~" : "~~");

export function arrange(locks, order, reversed, text) {
  const wanted = text.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (lock) => {
    const all = `${lock.path} ${lock.kind} ${lock.holder ? `${lock.holder.client} ${lock.holder.session}` : ""}`.toLowerCase();
    return wanted.every((word) => all.includes(word));
  };
  const rows = [];
  for (const lock of locks.values()) if (!wanted.length || matches(lock)) rows.push(lock);
  const { compare } = orders[order];
  const sign = reversed ? -1 : 1;
  rows.sort((a, b) => sign * compare(a, b) || (a.path < b.path ? -1 : 1));
  return rows;
}

export function totals(locks) {
  let heldLocks = 0, waiting = 0, contended = 0, since = Infinity;
  for (const lock of locks.values()) {
    if (lock.holders > 0) heldLocks++;
    if (lock.waiting > 0) contended++;
    waiting += lock.waiting;
    if (lock.waiter_since !== null) since = Math.min(since, lock.waiter_since);
  }
  return { locks: locks.size, held: heldLocks, waiting, contended, since: since === Infinity ? null : since };
}
