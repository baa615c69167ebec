// The texts of an axis: no two ticks have the same. Pure.
import { format } from 'd3-format';

import { bytesText, msText } from './format.js';

/** As many digits after the point as `step`, in units of `unit`, needs. */
function fixed(value, step, unit) {
  const digits = Math.max(0, Math.min(12, -Math.floor(Math.log10(step / unit) + 1e-9)));
  return format(`,.${digits}f`)(value / unit);
}

/** A function from a tick's value to its text. `unit`: that of a metric (MODEL.md). */
export function tickText(unit, ticks) {
  const last = Math.max(...ticks.map(Math.abs), 0);
  const step = ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) : last;
  if (unit === 'ms') {
    if (step === 0) return msText;
    const [size, name] = last >= 10_000 ? [1000, 's'] : [1, 'ms'];
    return (value) => `${fixed(value, step, size)} ${name}`;
  }
  if (unit === 'bytes') {
    if (step === 0) return bytesText;
    const [size, name] = last >= 1e6 ? [1e6, 'MB'] : last >= 1e3 ? [1e3, 'kB'] : [1, 'B'];
    return (value) => `${fixed(value, step, size)} ${name}`;
  }
  return (value) => (step === 0 ? String(value) : fixed(value, step, 1));
}

/** The ticks of a d3 scale; whole numbers if the unit counts things. */
export function ticksOf(scale, count, unit) {
  const ticks = scale.ticks(count);
  return unit === 'count' || unit === 'bytes' ? ticks.filter(Number.isInteger) : ticks;
}
