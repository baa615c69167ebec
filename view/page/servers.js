// What the servers did for all requests of the shown load, if they sent traces.
import { putServers } from '../trench/servers.js';

import { put, section } from './elements.js';
import { hostOf } from './format.js';

/** The traces of `requests`, as putServers() takes them. */
export function tracesOf(requests) {
  return requests.filter(({ trace }) => trace !== null)
    .map((request) => ({ host: hostOf(request.url), trace: request.trace, request }));
}

/** `jumpTo(request)` is called for a link to one. */
export function showServers(requests, jumpTo) {
  const part = section('servers', 'What the servers did');
  const traces = tracesOf(requests);
  part.attr('hidden', traces.length === 0 ? '' : null);
  if (traces.length === 0) return;
  put(part, 'p', 'said', 'All requests by host; calls of one method by one caller are added up. '
    + 'A chosen call names its requests.');
  putServers(part, traces, jumpTo);
}
