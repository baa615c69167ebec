// A request as a command line of curl. Pure.
import { shown } from './format.js';

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// curl sends these itself.
const OWN = new Set(['accept-encoding', 'connection', 'content-length', 'host', 'proxy-connection',
  'transfer-encoding', 'upgrade']);
const VERSIONS = { 'http/1.0': '--http1.0', 'http/1.1': '--http1.1', h2: '--http2', h3: '--http3' };

/** For a POSIX shell. What cannot be seen in a terminal is shown by its number. */
function quoted(text) {
  return `'${shown(text).replaceAll("'", "'\\''")}'`;
}

/** `heads` of the request as in model.js, or null. The body is not on the page. */
export function curlCommand({ method, url, protocol, heads }) {
  const parts = ['curl', '--globoff', '--url', quoted(url)];
  // With another method curl would wait for the body that Content-Length announces.
  if (method === 'HEAD') parts.push('--head');
  else if (method !== 'GET') parts.push('--request', quoted(method));
  const version = VERSIONS[protocol.toLowerCase()];
  if (version) parts.push(version);
  for (const [name, value] of heads?.request.fields ?? []) {
    if (!TOKEN.test(name) || OWN.has(name.toLowerCase())) continue;
    parts.push('--header', quoted(value === '' ? `${name};` : `${name}: ${value}`));
  }
  parts.push('--compressed');
  return parts.join(' ');
}
