// What was seen of the page while it loaded: frames of the browser's trace.
import { put } from './elements.js';
import { counted, msText } from './format.js';

const SHOWN_MAX = 16;

/**
 * Pure: those of `frames` ([ms, per cent, JPEG in base64] in the order of time) to show. If there
 * are more than `most`, the first, the last, and between them those at which most changed.
 */
export function chosenFrames(frames, most = SHOWN_MAX) {
  if (frames.length <= most) return frames;
  const changes = frames.slice(1, -1)
    .map(([, percent], at) => ({ at: at + 1, change: Math.abs(percent - frames[at][1]) }))
    .sort((a, b) => b.change - a.change || a.at - b.at)
    .slice(0, most - 2);
  const kept = new Set([0, frames.length - 1, ...changes.map(({ at }) => at)]);
  return frames.filter((frame, at) => kept.has(at));
}

function putFrame(parent, [ms, percent, jpeg], says) {
  return parent.append('img')
    .attr('src', `data:image/jpeg;base64,${jpeg}`)
    .attr('alt', `${says} at ${msText(ms)}, ${percent} % complete`);
}

/** `visuals` and `frames` of a load (MODEL.md); nothing if there are none. */
export function putFilmstrip(parent, { visuals, frames, frames_left_out: leftOut }) {
  const paint = visuals?.largest_paint;
  if (paint) {
    const said = put(parent, 'p', 'said', `Largest contentful paint: ${paint.type || 'element'} `);
    put(said, 'b', '', paint.node || 'without a name');
    said.node().append(` at ${msText(paint.at_ms)}`);
  }
  if (leftOut > 0) {
    put(parent, 'p', 'failure', `${counted(leftOut, 'frame')} not shown: the page would be too large.`);
  }
  if (!frames || frames.length === 0) return;
  const strip = parent.append('ol').attr('class', 'filmstrip').attr('tabindex', 0)
    .attr('aria-label', 'What was seen while the page loaded');
  for (const frame of chosenFrames(frames)) {
    const item = strip.append('li');
    putFrame(item, frame, 'The page');
    put(item, 'b', '', msText(frame[0]));
    put(item, 'span', '', `${frame[1]} %`);
  }
  const last = parent.append('details').attr('class', 'last-frame');
  put(last, 'summary', '', 'Final screenshot');
  putFrame(last, frames.at(-1), 'The page when it was loaded,');
}
