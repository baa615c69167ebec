// The trace in the header fields of a response (analysis/trench/TRENCH.md). Pure.

const COUNTS = ['base64lines', 'base64bytes', 'jsoncrc32', 'jsonbytes'];
const JSON_BYTES_MAX = 16 << 20;
const LINE_BEGIN = /^(?:url=|(?:base64lines|base64bytes|jsoncrc32|jsonbytes|\d+)=)/i;

/** As of zlib and PNG. */
export function crc32(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

/** The lines of a field's value: a comma separates them only if a line follows. */
function linesOf(value) {
  const lines = [];
  for (const piece of value.split(',')) {
    if (lines.length > 0 && !LINE_BEGIN.test(piece.trim())) lines.push(`${lines.pop()},${piece}`);
    else lines.push(piece);
  }
  return lines.map((line) => line.trim()).filter(Boolean);
}

/**
 * `headers`: [{ name, value }], as DevTools has them. Returns { url, json }: both are null if the
 * response has no trace. Throws an Error with a sentence if it is damaged.
 */
export function readFields(headers) {
  let url = null;
  const counts = new Map();
  const parts = new Map();
  const keep = (map, key, value, what) => {
    if (map.has(key) && map.get(key) !== value) throw new Error(`${what} comes twice`);
    map.set(key, value);
  };
  const values = headers.filter(({ name }) => name.toLowerCase() === 'banky-trace');
  // Chromium joins fields of one name by line ends.
  for (const line of values.flatMap(({ value }) => value.split('\n')).flatMap(linesOf)) {
    const [, number, part] = /^(\d+)=(.*)$/.exec(line) ?? [];
    if (/^url=/i.test(line)) {
      if (url !== null && url !== line.slice(4)) throw new Error('it has two different URLs');
      url = line.slice(4);
    } else if (number !== undefined) {
      keep(parts, Number(number), part, `line ${number}`);
    } else {
      for (const pair of line.split(';').map((each) => each.trim()).filter(Boolean)) {
        const [name, value] = pair.split('=');
        const known = COUNTS.find((count) => count === name.toLowerCase());
        if (!known) throw new Error('a line is not a URL, a count or a part');
        if (!/^\d+$/.test(value ?? '')) throw new Error(`${known} must be a number`);
        keep(counts, known, Number(value), known);
      }
    }
  }
  if (counts.size === 0 && parts.size === 0) return { url, json: null };
  return { url, json: jsonOf(counts, parts) };
}

function jsonOf(counts, parts) {
  for (const name of COUNTS) if (!counts.has(name)) throw new Error(`${name} is missing`);
  const lines = counts.get('base64lines');
  const joined = [];
  for (let i = 0; i < lines; i += 1) {
    if (!parts.has(i)) throw new Error(`line ${i} of ${lines} is missing`);
    joined.push(parts.get(i));
  }
  if (parts.size > lines) throw new Error(`it has more lines than ${lines}`);
  const text = joined.join('');
  if (text.length !== counts.get('base64bytes')) throw new Error('base64bytes is wrong');
  if (counts.get('jsonbytes') > JSON_BYTES_MAX) throw new Error('the JSON is longer than 16 MiB');
  let bytes;
  try {
    bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    throw new Error('its lines are not base64');
  }
  if (bytes.length !== counts.get('jsonbytes')) throw new Error('jsonbytes is wrong');
  if (crc32(bytes) !== counts.get('jsoncrc32')) throw new Error('jsoncrc32 is wrong');
  return parseJson(new TextDecoder().decode(bytes));
}

/** The JSON of a trace. Throws an Error with a sentence. */
export function parseJson(text) {
  if (text.length > JSON_BYTES_MAX) throw new Error('the JSON is longer than 16 MiB');
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('it is not JSON');
  }
}
