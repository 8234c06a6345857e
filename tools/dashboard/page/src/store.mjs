// What the server has told, and how it is told what is looked at.

export const state = {
  link: "connecting", // "connecting", "live", "lost", "refused"
  hello: null,
  status: null,
  offset: 0, // the server's clock minus this one's
  locks: new Map(),
  detail: null,
  findings: [],
  tree: [],
  trend: [],
  plots: [],
  version: 0, // grows with each change of the locks
};

const listeners = new Set();
export function subscribe(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
let pending = false;
export function changed() {
  if (pending) return;
  pending = true;
  requestAnimationFrame(() => {
    pending = false;
    for (const listener of listeners) listener();
  });
}

export const now = () => Date.now() + state.offset;

const handlers = {
  hello(data) {
    state.hello = data;
    state.trend = data.trend;
  },
  snapshot(data) {
    state.locks = new Map(data.locks.map((lock) => [lock.path, lock]));
    state.version++;
  },
  delta(data) {
    for (const path of data.gone) state.locks.delete(path); // one of them may be back
    for (const lock of data.changed) state.locks.set(lock.path, lock);
    state.version++;
  },
  detail(data) { state.detail = data; },
  finding(data) {
    state.findings = data.findings;
    state.tree = data.tree;
  },
  status(data) {
    state.status = data;
    state.offset = data.now - Date.now();
    if (data.trend) state.trend = [...state.trend, data.trend].slice(-720);
  },
  plots(data) { state.plots = data.plots; },
};

let source = null;
let retry = 0;

export function connect() {
  if (source || document.hidden) return;
  source = new EventSource("api/stream");
  for (const [name, handle] of Object.entries(handlers))
    source.addEventListener(name, (event) => {
      state.link = "live";
      handle(JSON.parse(event.data));
      if (name === "hello") sendView();
      changed();
    });
  source.onerror = async () => {
    disconnect();
    state.link = "lost";
    changed();
    const refused = await fetch("api/session").then((reply) => reply.status === 401, () => false);
    if (refused) state.link = "refused";
    else retry = setTimeout(connect, 1000);
    changed();
  };
}

function disconnect() {
  if (source) source.close();
  source = null;
  clearTimeout(retry);
}

// A hidden page drops its stream, and with it its watches and one of the browser's six connections.
document.addEventListener("visibilitychange", () => (document.hidden ? disconnect() : connect()));

export function post(path, body) {
  return fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Zklock": "1" },
    body: JSON.stringify(body),
  });
}

export async function login(token) {
  const reply = await post("api/session", { token });
  if (reply.ok) connect();
  return reply.ok;
}

let view = { seen: [], open: null };
let viewTimer = 0;
export function look(seen, open) {
  if (open === view.open && seen.length === view.seen.length && seen.every((path, i) => path === view.seen[i])) return;
  if (open !== view.open) state.detail = null;
  const urgent = open !== view.open;
  view = { seen, open };
  clearTimeout(viewTimer);
  viewTimer = setTimeout(sendView, urgent ? 0 : 120);
}
function sendView() {
  if (state.hello) post("api/view", { stream: state.hello.stream, ...view }).catch(() => {});
}
