import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "./html.mjs";

const keys = [
  ["/", "search"], ["j k \u2193 \u2191", "next, previous lock"], ["Enter", "open its wait queue"], ["Esc", "close, clear"],
  ["Home End", "first, last"], ["t", "day, night, automatic"], ["?", "this help"],
];
const signs = [
  ["\u25cf", "holds the lock"], ["\u25cb", "waits for it"], ["\u25b2", "has waited for a minute or more"],
  ["\u00d7 2", "the holder has entered it twice"], ["grey", "no watch yet, or ZooKeeper is away: as of the last reading"],
];

export function Help({ close }) {
  const dialog = useRef(null);
  useEffect(() => dialog.current.showModal(), []);
  const table = (rows) => html`<dl class="keys">${rows.map(([key, words]) => html`<div key=${key}><dt>${key}</dt><dd>${words}</dd></div>`)}</dl>`;
  return html`
    <dialog ref=${dialog} onClose=${close} onClick=${(event) => event.target === dialog.current && close()} aria-label="Keys and signs">
      <h2>Keys</h2>${table(keys)}<h2>Signs</h2>${table(signs)}
      <p class="faint">Ages are those of the nodes, by the server's clock: a holder's counts from when it began to wait.</p>
      <button type="button" class="small" onClick=${close}>close</button>
    </dialog>`;
}

export function Login({ login }) {
  const [wrong, setWrong] = useState(false);
  const enter = async (event) => {
    event.preventDefault();
    setWrong(!(await login(event.target.elements.token.value.trim()).catch(() => false)));
  };
  return html`
    <main class="login"><form onSubmit=${enter}>
      <h1>zklock</h1>
      <label>The token that the dashboard has printed, or that is in its token file
        <input name="token" type="password" autocomplete="off" autofocus /></label>
      ${wrong && html`<p role="alert" class="wrong">That is not the token.</p>`}
      <button type="submit" class="small">open</button>
    </form></main>`;
}
