// Draws marks on the map's canvas: clusters with their counts, dots, pulses, labels, rings.
import { FADE, PULSE } from "./mark-set.js";
import { shortCount } from "./text.js";

const NAMED_DOTS = 120;
const LABEL = "500 11.5px Inter, system-ui, sans-serif";

/** Draws marks at their points, and labels where `labelsOf` put them; `now` is the moment of what moves. */
export function drawMarks(context, shown, now, palette, { chosen, hovered, focused, labels }) {
  const clusters = shown.filter(({ mark }) => mark.count > 1);
  const dots = shown.filter(({ mark }) => mark.count === 1);
  for (const { mark, x, y } of clusters) drawCircle(context, mark, x, y, palette);
  for (const { mark, x, y } of clusters) drawNumber(context, mark, x, y, palette);
  drawPulses(context, dots, now, palette);
  const staying = dots.filter(({ mark }) => mark.leaves === undefined);
  drawDots(context, staying.filter(({ mark }) => mark.id !== chosen), palette.dot, palette);
  drawLeaving(context, dots, now, palette);
  drawDots(context, staying.filter(({ mark }) => mark.id === chosen), palette.chosen, palette, 2);
  for (const { mark, x, y } of shown) {
    if (mark === focused) ring(context, x, y, mark.radius + 6, palette.ink, 2);
    else if (mark.id !== undefined && (mark.id === chosen || mark.id === hovered)) {
      ring(context, x, y, mark.radius + 5, palette.chosen, 2.5);
    }
  }
  context.font = LABEL;
  context.textAlign = "left";
  context.textBaseline = "middle";
  for (const { text, x, y } of labels) haloed(context, text, x, y, palette.ink, palette);
}

/** The places of an object that has no mark of its own, because it is in a cluster. */
export function drawPlaces(context, places, { scale, left, top, right }, palette, isChosen) {
  for (const { x, y } of places) {
    for (let copy = Math.ceil(left - x); x + copy <= right; copy += 1) {
      const [px, py] = [(x + copy - left) * scale, (y - top) * scale];
      if (isChosen) disc(context, px, py, 6.5, palette.chosen);
      ring(context, px, py, isChosen ? 6.5 : 9, isChosen ? palette["dot-edge"] : palette.chosen, 2);
      if (isChosen) ring(context, px, py, 11, palette.chosen, 2.5);
    }
  }
}

function disc(context, x, y, radius, colour) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fillStyle = colour;
  context.fill();
}

function ring(context, x, y, radius, colour, width) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.stroke();
}

function drawCircle(context, { radius }, x, y, palette) {
  disc(context, x, y, radius + 4, palette["mark-halo"]);
  disc(context, x, y, radius, palette.mark);
}

function drawNumber(context, { count, radius }, x, y, palette) {
  context.fillStyle = palette["mark-ink"];
  context.font = `600 ${radius < 16 ? 11 : 12.5}px Inter, system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(shortCount(count), x, y + 0.5);
}

/** All of one colour in one path, which is what makes ten thousand quick. */
function drawDots(context, dots, colour, palette, extra = 0) {
  if (dots.length === 0) return;
  context.beginPath();
  const radius = (dots.length > 1500 ? -2 : dots.length > 400 ? -1 : 0) + extra;
  for (const { mark, x, y } of dots) {
    context.moveTo(x + mark.radius + radius, y);
    context.arc(x, y, mark.radius + radius, 0, 2 * Math.PI);
  }
  context.fillStyle = colour;
  context.fill();
  context.strokeStyle = palette["dot-edge"];
  context.lineWidth = dots.length > 1500 ? 0.75 : 1.5;
  context.stroke();
}

function drawPulses(context, dots, now, palette) {
  for (const { mark, x, y } of dots) {
    const isNew = now - mark.entered < PULSE;
    const part = (now - (isNew ? mark.entered : mark.changed)) / PULSE;
    if (!(part >= 0 && part < 1)) continue;
    context.globalAlpha = 1 - part;
    if (isNew) ring(context, x, y, mark.radius + 3 + part * 22, palette.enter, 3);
    else ring(context, x, y, mark.radius + 3 + part * 8, palette.dot, 1.5);
    context.globalAlpha = 1;
  }
}

function drawLeaving(context, dots, now, palette) {
  for (const { mark, x, y } of dots) {
    if (mark.leaves === undefined) continue;
    const part = Math.min(1, (now - mark.leaves) / FADE);
    context.globalAlpha = 1 - part;
    disc(context, x, y, mark.radius * (1 + part * 0.8), palette.leave);
    context.globalAlpha = 1;
  }
}

/** Names beside the dots, if there are few, as far as they find room: each with its point. That of the chosen object comes first. */
export function labelsOf(context, shown, chosen, room) {
  const dots = shown.filter(({ mark }) => mark.count === 1);
  if (dots.length > NAMED_DOTS) return [];
  context.font = LABEL;
  const labels = [];
  for (const { mark, x, y } of dots.sort((a, b) => (b.mark.id === chosen) - (a.mark.id === chosen))) {
    if (!mark.label || mark.leaves !== undefined) continue;
    const text = mark.label.length > 30 ? `${mark.label.slice(0, 29)}…` : mark.label;
    const isFree = room.take([x + 9, y - 8, x + 13 + context.measureText(text).width, y + 8]);
    if (isFree) labels.push({ text, x: x + 11, y: y + 0.5 });
  }
  return labels;
}

function haloed(context, text, x, y, colour, palette) {
  context.lineWidth = 3;
  context.lineJoin = "round";
  context.strokeStyle = palette["label-halo"];
  context.strokeText(text, x, y);
  context.fillStyle = colour;
  context.fillText(text, x, y);
}
