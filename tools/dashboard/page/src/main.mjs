import { render } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { html } from "./html.mjs";
import { Detail } from "./detail.mjs";
import { Header } from "./header.mjs";
import { Help, Login } from "./dialogs.mjs";
import { List } from "./list.mjs";
import { Overview } from "./overview.mjs";
import { arrange } from "./rows.mjs";
import { connect, login, look, state, subscribe } from "./store.mjs";

function useStore() {
  const [, draw] = useState(0);
  useEffect(() => subscribe(() => draw((n) => n + 1)), []);
  useEffect(() => {
    const timer = setInterval(() => draw((n) => n + 1), 500); // ages grow
    return () => clearInterval(timer);
  }, []);
}

function useTheme() {
  const [theme, set] = useState("auto");
  useEffect(() => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  }, [theme]);
  return [theme, () => set((now) => ({ auto: "day", day: "night", night: "auto" })[now])];
}

function Page() {
  useStore();
  const [order, setOrder] = useState({ key: "wait", reversed: false });
  const [text, setText] = useState("");
  const [selected, setSelected] = useState(null);
  const [open, setOpen] = useState(null);
  const [help, setHelp] = useState(false);
  const [theme, nextTheme] = useTheme();
  const search = useRef(null);
  const list = useRef(null);
  const rows = useMemo(() => arrange(state.locks, order.key, order.reversed, text), [state.version, order, text]);
  const seen = useRef([]);
  const show = (paths) => {
    seen.current = paths;
    look(paths, open);
  };
  useEffect(() => look(seen.current, open), [open]);

  useEffect(() => {
    if (!help) list.current?.focus(); // a dialog that goes gives the focus to nothing
  }, [help]);
  const close = () => {
    setOpen(null);
    list.current?.focus();
  };
  useEffect(() => {
    const press = (event) => {
      const typing = event.target.matches?.("input, textarea");
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Escape") {
        if (help) setHelp(false);
        else if (typing && text) setText("");
        else if (open !== null) setOpen(null);
        list.current?.focus();
      } else if (typing) {
        if (event.key === "Enter") list.current?.focus();
        return;
      } else if (event.key === "/") search.current?.focus();
      else if (event.key === "?") setHelp((shown) => !shown);
      else if (event.key === "t") nextTheme();
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });

  if (state.link === "refused") return html`<${Login} login=${login} />`;
  return html`
    <${Header} text=${text} setText=${setText} search=${search} theme=${theme} nextTheme=${nextTheme} showHelp=${() => setHelp(true)} />
    <main>
      <${List} rows=${rows} order=${order} setOrder=${setOrder} selected=${selected} select=${setSelected} open=${open}
        setOpen=${setOpen} show=${show} grid=${list} filtered=${text.trim() !== ""} />
      ${open !== null ? html`<${Detail} path=${open} close=${close} />` : html`<${Overview} setOpen=${setOpen} />`}
    </main>
    ${help && html`<${Help} close=${() => setHelp(false)} />`}
  `;
}

async function begin() {
  const token = /^#token=([^&]+)$/.exec(location.hash);
  if (token) {
    history.replaceState(null, "", location.pathname); // the address may be copied
    await login(decodeURIComponent(token[1])).catch(() => {});
  }
  render(html`<${Page} />`, document.getElementById("page"));
  connect();
}
begin();
