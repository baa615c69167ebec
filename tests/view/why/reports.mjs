// Made-up reports of `reprise why` (docs/why.md), for tests of the page.

const REQUEST = {
  method: 'GET', status: 200, protocol: 'h2', priority: 'High', from_cache: false,
  dns_start_ms: null, dns_end_ms: null, connect_start_ms: null, tls_start_ms: null,
  connect_end_ms: null,
};

/** A request that waits until `wait_ms` after its start, and takes `took_ms` in all. */
export function request(url, type, start, wait, took, more = {}) {
  return {
    ...REQUEST, url, type, encoded_bytes: 12_000, start_ms: start, send_start_ms: start + 2,
    send_end_ms: start + 2.5, first_byte_ms: start + wait, end_ms: start + took, ...more,
  };
}

function group(number, title, kind, where, what) {
  return { group: number, title, differences: [{ kind, where, what, measured: true }] };
}

/** What a server did for a request, of which `ms` in a method called `name`; none without a name. */
function tracesOf(name, ms) {
  if (!name) return [];
  return [{ url: 'https://third.page.test/ad.js', trace: {
    stack: [[0, 1, ms + 5, [1]], [1, 3, ms, []]], classes: ['shop.Ads'],
    points: [[0, 'serve', 10], [0, name, 20]] } }];
}

/**
 * A page of `requests` requests, of which B waits for a slow host, loads a larger image, has a
 * script more and a picture less. `measured`: false for two loads that are compared by their
 * timelines. `text` stands in names that a page chooses. `skipped`: B's traces that do not fit;
 * `missing`: those that were not fetched.
 */
export function report({ requests = 12, measured = true, text = '', causes = true,
  interrupted = false, traces = '', skipped = 0, missing = 0 } = {}) {
  const site = 'https://www.page.test';
  const ad = `https://third.page.test/ad.js${text}`;
  const rows = [
    [request(`${site}/`, 'Document', 0, 90, 120, { dns_start_ms: 0.1, dns_end_ms: 8,
      connect_start_ms: 8, tls_start_ms: 38, connect_end_ms: 68, send_start_ms: 68 }),
    request(`${site}/`, 'Document', 0, 92, 124, { dns_start_ms: 0.1, dns_end_ms: 8,
      connect_start_ms: 8, tls_start_ms: 38, connect_end_ms: 68, send_start_ms: 68 })],
    [request(ad, 'Script', 125, 50, 60), request(ad, 'Script', 128, 540, 551)],
    [request(`${site}/app.1a2b3c.js`, 'Script', 125, 70, 110),
      request(`${site}/app.9d8e7f.js`, 'Script', 128, 70, 108, { protocol: 'http/1.1' })],
    [request(`${site}/hero.png`, 'Image', 240, 60, 190),
      request(`${site}/hero.png`, 'Image', 682, 60, 350, { encoded_bytes: 120_000 })],
    [request(`${site}/old.png`, 'Image', 240, 60, 90), null],
    [null, request(`${site}/new.js`, 'Script', 690, 44, 60)],
  ];
  for (let i = rows.length; i < requests; i += 1) {
    const url = `${site}/picture/${i}.png`;
    rows.push([request(url, 'Image', 245 + i, 60, 95), request(url, 'Image', 684 + i, 61, 97)]);
  }
  const effect = (estimate, width) => (measured
    ? { estimate, low: estimate - width, high: estimate + width } : { estimate });
  const found = causes ? [
    { ...effect(441, 22), rows: [1], evidence: [],
      groups: [group(0, `think time of third.page.test: 500 ms instead of 10 ms for ${ad}`,
        'think time', 'third.page.test', `500 ms instead of 10 ms for /ad.js${text}`)] },
    { ...effect(152, 30), rows: [3], evidence: [],
      groups: [group(1, `${site}/hero.png: 120,000 bytes instead of 12,000`, 'content',
        `${site}/hero.png`, 'another image'), group(4, 'h2 lost', 'protocol', site, 'h1')] },
    { ...effect(-31, 12), rows: [4, 5], evidence: [],
      groups: [group(2, `line 12: added \`<script src=/new.js>\`${text}`, 'request more',
        `${site}/new.js`, 'GET')] },
  ] : [];
  const others = [{ ...effect(2, 14), rows: [2], evidence: [],
    groups: [group(3, `${site}/app.js: line 3: \`late\` instead of \`later\``, 'content',
      `${site}/app.9d8e7f.js`, 'line 3'), group(5, 'URL', 'URL', site, 'x')] }];
  const total = causes ? 582 : 20;
  const pairs = causes && measured ? [{ ...effect(-120, 30), causes: [0, 1],
    text: '1 and 2 mask each other, so undo both: together they cost 120 ms less.' }] : undefined;
  return {
    schema: 'reprise-why/1', reprise: '0.1.0', sides: [`before${text}.reprise`, 'after.reprise'],
    measured, interrupted, metric: 'load', metric_title: 'load event', unit: 'ms', base: 440,
    total: effect(total, 12), causes: found, pairs,
    unexplained: effect(total - 2 - found.reduce((sum, { estimate }) => sum + estimate, 0), 25),
    no_effect_shown: others,
    not_measured: [group(6, `https://cdn.test: name resolved in 90 ms instead of 8 ms${text}`,
      'name resolution', 'cdn.test', '90 ms')],
    rows: rows.map(([a, b]) => ({ a, b })),
    traces: { a: tracesOf(traces, 40), b: tracesOf(traces, 480) },
    traces_skipped: { a: { too_large: 0, unreadable: 0, missing: 0 },
      b: { too_large: skipped, unreadable: 0, missing } },
    loads: Array.from({ length: 42 }, () => ({ is_b: false, groups: [], value: 1, counts: true })),
  };
}
