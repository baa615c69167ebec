// Formats numbers and makes hostile text safe to read. Pure.
import { format } from 'd3-format';

const whole = format(',d');

export function msText(ms) {
  if (ms === null || ms === undefined) return '–';
  if (ms === 0) return '0 ms';
  if (ms < 1) return `${ms.toFixed(2)} ms`;
  if (ms < 100) return `${ms.toFixed(1)} ms`;
  if (ms < 10_000) return `${whole(Math.round(ms))} ms`;
  return `${(ms / 1000).toFixed(ms < 100_000 ? 2 : 1)} s`;
}

/** With its sign: how much later, or longer. */
export function signedMs(ms) {
  if (ms === 0) return '0 ms';
  return `${ms < 0 ? '−' : '+'}${msText(Math.abs(ms))}`;
}

export function bytesText(bytes) {
  if (bytes === null || bytes === undefined) return '–';
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(bytes < 1e5 ? 1 : 0)} kB`;
  return `${(bytes / 1e6).toFixed(bytes < 1e8 ? 1 : 0)} MB`;
}

export function rateText(bps) {
  if (bps === null || bps === undefined) return '–';
  if (bps < 1e6) return `${(bps / 1e3).toFixed(0)} kbit/s`;
  return `${(bps / 1e6).toFixed(bps < 1e7 ? 1 : 0)} Mbit/s`;
}

export function countText(count) {
  return count === null || count === undefined ? '–' : whole(count);
}

/** "1 request", "2 requests". */
export function counted(count, noun) {
  return `${whole(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** Makes characters visible that are invisible or change how others are displayed. */
const UNSEEN = new RegExp('[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b-\\u200f'
  + '\\u2028-\\u202f\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb]', 'g');

export function shown(text) {
  return `${text ?? ''}`.replace(UNSEEN,
    (character) => (character === '\n' || character === '\t'
        ? ' '
        : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`));
}

/** Host and port of a URL, found without interpreting the rest. */
export function hostOf(url) {
  return /^[a-z]+:\/\/([^/?#]*)/i.exec(url)?.[1] ?? '';
}

/** The last part of a URL's path with its query, which distinguishes similar requests. */
export function nameOf(url) {
  const rest = url.replace(/^[a-z]+:\/\/[^/?#]*/i, '');
  const [, path, query] = /^([^?#]*)(.*)$/s.exec(rest);
  const parts = path.split('/').filter(Boolean);
  if (parts.length === 0) return `/${query}`;
  return parts.at(-1) + (path.endsWith('/') ? '/' : '') + query;
}
