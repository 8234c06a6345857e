// Text for people, from what other programs wrote.

// Control characters, and those that change the direction of writing or have no width, are shown, not obeyed.
const hidden = /[\u0000-\u001f\u007f-\u00a0\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ufff9-\ufffb]/g;

export function visible(text) {
  return String(text).replace(hidden, (one) => `\u27e8${one.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}\u27e9`);
}

// "0.4 s", "12 s", "3 m 05", "2 h 14", "5 d 03": the width stays nearly the same.
export function age(milliseconds) {
  const seconds = Math.max(0, milliseconds) / 1000;
  const two = (number) => String(Math.floor(number)).padStart(2, "0");
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${two(seconds % 60)}`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ${two((seconds % 3600) / 60)}`;
  return `${Math.floor(seconds / 86400)} d ${two((seconds % 86400) / 3600)}`;
}

// How bad a wait is: a word and a mark beside the colour.
export function gravity(milliseconds) {
  if (milliseconds === null) return "none";
  return milliseconds >= 60_000 ? "bad" : milliseconds >= 5_000 ? "slow" : "fine";
}

export function clock(milliseconds) {
  const two = (number) => String(number).padStart(2, "0");
  const time = new Date(milliseconds);
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}

export const count = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;

// The part of a path below the base, and the base itself in front of it.
export function split(path, bases) {
  const base = bases.find((one) => path === one || path.startsWith(one === "/" ? "/" : `${one}/`));
  if (!base || path === base) return ["", path];
  const end = base === "/" ? 1 : base.length + 1;
  return [path.slice(0, end), path.slice(end)];
}

// "host-12-ab34cd56": the random end of a client's id says nothing to people.
export function client(id) {
  const parts = /^(.+?)(-[0-9a-f]{8})$/.exec(id);
  return parts ? [parts[1], parts[2]] : [id, ""];
}
