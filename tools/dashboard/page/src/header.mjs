import { html } from "./html.mjs";
import { age, clock, visible } from "./format.mjs";
import { totals } from "./rows.mjs";
import { now, state } from "./store.mjs";

const themes = { auto: "\u25d0", day: "\u25cb", night: "\u25cf" };

function linkState() {
  const { link, status } = state;
  if (link === "connecting" || (link === "live" && !status)) return ["busy", "connecting"];
  if (link === "lost") return ["bad", "no dashboard: trying again"];
  if (!status.connected)
    return ["bad", `no ZooKeeper${status.contact ? ` since ${clock(status.contact)}` : ""}`];
  if (status.missing.length) return ["busy", `no node ${visible(status.missing[0])}`];
  return ["good", "live"];
}

function Figure({ name, value, grave }) {
  return html`<div class="figure ${grave ? "grave" : ""}"><dt>${name}</dt><dd>${value}</dd></div>`;
}

export function Header({ text, setText, search, theme, nextTheme, showHelp }) {
  const [kind, words] = linkState();
  const sum = totals(state.locks);
  const wait = sum.since === null ? null : now() - sum.since;
  return html`
    <header>
      <h1><svg class="mark" viewBox="0 0 16 16" aria-hidden="true"><rect x="1.5" y="7" width="13" height="8" rx="2" /><path d="M4.5 7V5a3.5 3.5 0 0 1 7 0v2" /></svg>zklock</h1>
      <p class="where" title="Where the locks are">${state.hello ? state.hello.bases.map(visible).join(" ") : ""}<span>${state.hello ? visible(state.hello.connect) : ""}</span></p>
      <dl class="figures">
        <${Figure} name="locks" value=${sum.locks.toLocaleString("en")} />
        <${Figure} name="held" value=${sum.held.toLocaleString("en")} />
        <${Figure} name="contended" value=${sum.contended.toLocaleString("en")} />
        <${Figure} name="waiting" value=${sum.waiting.toLocaleString("en")} />
        <${Figure} name="longest wait" value=${wait === null ? "\u2013" : age(wait)} grave=${wait !== null && wait >= 60_000} />
      </dl>
      <input ref=${search} class="search" type="search" placeholder="Search  /" aria-label="Search locks and holders" spellcheck=${false}
        value=${text} onInput=${(event) => setText(event.target.value)} />
      <p class="link ${kind}" role="status"><i aria-hidden="true"></i>${words}</p>
      <button type="button" class="plain" onClick=${nextTheme} aria-label="Colours: ${theme}" title="Colours: ${theme} (t)">${themes[theme]}</button>
      <button type="button" class="plain" onClick=${showHelp} aria-label="Keys and signs" title="Keys and signs (?)">?</button>
    </header>`;
}
