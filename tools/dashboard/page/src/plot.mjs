import uPlot from "uplot";
import { useEffect, useRef } from "preact/hooks";
import { html } from "./html.mjs";

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function options(width, series, unit) {
  const ink = () => colour("--faint");
  const grid = { stroke: () => colour("--rule"), width: 1 };
  const axis = { stroke: ink, grid, ticks: { show: false }, font: "11px system-ui, sans-serif" };
  return {
    width, height: 104, padding: [6, 22, 0, 0], legend: { show: false }, cursor: { y: false, points: { size: 5 } },
    scales: { y: { range: (plot, low, high) => [0, Math.max(high * 1.15 || 0, unit ? 0.01 : 4)] } },
    axes: [
      { ...axis, size: 18, space: 60, values: [[3600, "{HH}:{mm}"], [60, "{HH}:{mm}"], [1, "{HH}:{mm}:{ss}"]].map(([step, text]) => [step, text, null, null, null, null, null, null, 1]) },
      { ...axis, size: 36, space: 28, values: (plot, ticks) => ticks.map((tick) => `${tick}${unit && ` ${unit}`}`) },
    ],
    series: [{}, ...series.map((one) => ({ label: one.name, stroke: () => colour(one.colour), width: 1.5, points: { show: false } }))],
  };
}

export function Plot({ title, unit, axis, series }) {
  const place = useRef(null);
  const plot = useRef(null);
  const data = [axis, ...series.map((one) => one.values)];
  useEffect(() => {
    const box = place.current;
    plot.current = new uPlot(options(box.clientWidth, series, unit), data, box);
    const observer = new ResizeObserver(() => plot.current.setSize({ width: box.clientWidth, height: 104 }));
    observer.observe(box);
    const repaint = () => plot.current.redraw(false);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const theme = new MutationObserver(repaint);
    theme.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    scheme.addEventListener("change", repaint);
    return () => {
      observer.disconnect();
      theme.disconnect();
      scheme.removeEventListener("change", repaint);
      plot.current.destroy();
    };
  }, [series.length]);
  useEffect(() => plot.current.setData(data), [axis.length, axis[axis.length - 1]]);
  const last = (values) => values.length ? values[values.length - 1] : null;
  const words = series.map((one) => `${one.name} ${last(one.values) ?? "unknown"}${unit && ` ${unit}`}`).join(", ");
  return html`
    <figure class="plot">
      <figcaption>${title}<span>${series.map((one) => html`<span class="key" key=${one.name}><i class=${`swatch ${one.colour.slice(2)}`}></i>${one.name}</span>`)}</span></figcaption>
      <div ref=${place} role="img" aria-label=${words}></div>
    </figure>`;
}
