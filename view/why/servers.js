// What the servers did in A and in B, where they sent traces.
import { put, section } from '../page/elements.js';
import { putServersOfTwo } from '../trench/servers.js';
import { isIncomplete } from '../trench/words.js';

export function showServers({ traces: { a, b }, skipped }) {
  if (a.length === 0 && b.length === 0 && !isIncomplete(skipped)) return;
  const part = section('servers', 'What the servers did');
  put(part, 'p', 'said', 'The traces of all requests by host, as they were recorded; calls of one '
    + 'method by one caller are added up.');
  putServersOfTwo(part, 'servers', a, b, skipped);
}
