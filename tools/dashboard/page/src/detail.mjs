import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "./html.mjs";
import { age, clock, count, gravity, visible } from "./format.mjs";
import { Holder, Path } from "./list.mjs";
import { now, post, state } from "./store.mjs";

// Asks once more before it asks the holder.
function Revoke({ place }) {
  const [step, setStep] = useState("idle");
  const ask = async () => {
    setStep("busy");
    const reply = await post("api/revoke", { node: place.node, czxid: place.token }).catch(() => null);
    setStep(reply && reply.ok ? "asked" : "failed");
  };
  if (place.asked || step === "asked") return html`<span class="tag asked">asked</span>`;
  if (step === "failed") return html`<span class="tag">not asked: it has changed</span>`;
  if (step === "idle") return html`<button type="button" class="small" onClick=${() => setStep("sure")}>ask to release\u2026</button>`;
  return html`<span class="sure"><button type="button" class="small danger" disabled=${step === "busy"} onClick=${ask}>ask this holder</button>
    <button type="button" class="small" onClick=${() => setStep("idle")}>no</button></span>`;
}

function Place({ place, position, time }) {
  const mayAsk = place.holds && place.known && state.hello.revoke && place.session !== "0x0";
  return html`
    <li class="place ${place.holds ? "holds" : ""}" data-node=${place.node}>
      <span class="position">${place.holds ? "\u25cf" : position}</span>
      <div class="who"><${Holder} one=${place} />${place.kind !== "mutex" && place.kind !== "permit" && html`<span class="tag">${place.kind}</span>`}${
        place.count > 1 && html`<span class="tag">\u00d7${place.count}</span>`}${place.asked && !mayAsk && html`<span class="tag asked">asked</span>`}</div>
      <span class="number ${place.holds ? "" : gravity(place.known ? time - place.since : null)}">${place.known ? age(time - place.since) : ""}</span>
      <div class="ids"><span>session ${visible(place.session)}</span><span>token ${place.token}</span><bdi>${visible(place.name)}</bdi></div>
      ${mayAsk && html`<div class="act"><${Revoke} key=${place.node} place=${place} /></div>`}
    </li>`;
}

function History({ events }) {
  if (!events.length) return null;
  return html`
    <h3>Seen <small>at least; short holders may be missed</small></h3>
    <ol class="history">${events.map((event) => html`<li key=${`${event.at}${event.what}${event.node}`}>
      <time>${clock(event.at)}</time><span class="what ${event.what}">${event.what}</span><${Holder} one=${event} />
      <span class="number">${event.what === "released" ? age(event.held) : ""}</span></li>`)}</ol>`;
}

export function Detail({ path, close }) {
  const heading = useRef(null);
  useEffect(() => heading.current?.scrollIntoView?.({ block: "nearest" }), [path]);
  const detail = state.detail && state.detail.path === path ? state.detail : null;
  const lock = state.locks.get(path);
  const time = now();
  const places = detail ? detail.places : [];
  const holds = places.filter((place) => place.holds);
  const waits = places.filter((place) => !place.holds);
  const rest = detail ? detail.waiting - waits.length : 0;
  return html`
    <aside class="side detail" aria-label="The open lock" tabindex="0">
      <div class="title" ref=${heading}><h2><${Path} path=${path} /></h2><button type="button" class="plain" onClick=${close} aria-label="Close" title="Close (Esc)">\u00d7</button></div>
      <p class="sub">${lock ? lock.kind : "gone"}${detail && html`, ${count(detail.holders, "holder")}, ${count(detail.waiting, "waiter")}`}${
        lock && !lock.live && html`, <span class="faint">not watched yet</span>`}</p>
      ${!lock && html`<p class="nothing">No client holds it or waits for it any more.</p>`}
      ${holds.length > 0 && html`<h3>Held by</h3><ol class="places">${holds.map((place, i) => html`<${Place} key=${place.node} place=${place} position=${i + 1} time=${time} />`)}</ol>`}
      ${waits.length > 0 && html`<h3>Wait queue</h3><ol class="places">${waits.map((place, i) => html`<${Place} key=${place.node} place=${place} position=${i + 1} time=${time} />`)}</ol>`}
      ${rest > 0 && html`<p class="faint more">and ${count(rest, "more waiter")}</p>`}
      ${detail && html`<${History} events=${detail.history} />`}
    </aside>`;
}
