// Explanations (analysis/contribution/EXPLANATION.md) of a made-up shop, drawn from a seed. The
// shares are those of the drawn calls, so that all sums hold.
import { randomFrom } from '../request.mjs';

// The standard ones (analysis/contribution/standard_kinds.cc).
const KINDS = [
  ['redirect', 'Link to the final URL, and answer on the first host with it.'],
  ['ads', 'Load ads after the page\'s own content, and reserve their space.'],
  ['third party', 'Load it later, with async or defer, host it yourself, or do without it.'],
  ['connection', 'Use fewer hosts and HTTP/2 or later; preconnect to those needed first.'],
  ['AJAX', 'Send the data with the document, or request it before the scripts run.'],
  ['download', 'Send fewer bytes (compress, resize, cache): small files wait for large ones.'],
  ['CDN', 'Cache at the edge for longer, and warm what is missed often.'],
  ['server', 'Find the slow part in the server\'s spans; send the document\'s head early.'],
  ['client execution', 'Run less script before the page is shown; break up long tasks.'],
];
const [REDIRECT, ADS, THIRD, CONNECTION, AJAX, DOWNLOAD, CDN, SERVER, CLIENT] = KINDS.keys();
const NETWORKS = { wifi: 0.7, '4g': 1, '3g': 2.3 };
const COUNTRIES = ['DE', 'IN', 'US'];
const FIRST_DAY = Date.UTC(2026, 9, 24);
const DAY_MS = 86_400_000;

/** The calls of one view: { kind, name, total, detail, start, end, parent, layer }, in us. */
function callsOf(random, slowness, adsSlowness) {
  const calls = [];
  const draw = (from, to) => Math.round(1000 * slowness * (from + random() * (to - from)));
  const add = (call) =>
    calls.push({ detail: '', parent: -1, layer: 0, total: call.name, ...call }) - 1;
  const request = (kind, url, start, { wait, receive, connect = 0, detail = '' }) => {
    const own = { total: url, detail };
    const sent = start + connect;
    const parent = add({ ...own, kind, name: `${url}?v=${calls.length}`, start,
      end: sent + wait + receive });
    if (connect > 0) {
      add({ ...own, kind: CONNECTION, name: 'connect', start, end: sent, parent });
    }
    const waiting = add({ ...own, kind, name: 'wait', start: sent, end: sent + wait, parent });
    if (receive > 0) {
      add({ ...own, kind: kind === SERVER || kind === CDN ? DOWNLOAD : kind, name: 'receive',
        start: sent + wait, end: sent + wait + receive, parent });
    }
    return { parent: waiting, sent, first: sent + wait, end: sent + wait + receive };
  };
  let start = draw(1, 8);
  if (random() < 0.3) {
    start = request(REDIRECT, 'http://shop.test/', start, { wait: draw(60, 120), receive: 0 }).end;
  }
  const shop = request(SERVER, 'https://shop.test/', start,
    { connect: draw(50, 90), wait: draw(150, 420), receive: draw(40, 100) });
  const inside = shop.first - shop.sent;
  add({ kind: SERVER, name: 'cart: SELECT items', start: shop.sent + Math.round(inside * 0.2),
    end: shop.sent + Math.round(inside * 0.8), parent: shop.parent });
  const task = (kind, url, from, took, detail = '') =>
    add({ kind, name: url, start: from, end: from + took, layer: 1, detail });
  let last = shop.end;
  for (let i = 0; i < 14; i += 1) {
    const file = i < 2 ? `style${i}.css` : i < 5 ? `app${i}.js` : `photo-${i}.webp`;
    last = Math.max(last, request(CDN, `https://cdn.shop.test/${file}`, shop.first + draw(1, 160),
      { wait: draw(20, 60), receive: draw(10, 180), connect: i === 0 ? draw(50, 80) : 0,
        detail: 'Fastly' }).end);
  }
  task(CLIENT, 'https://cdn.shop.test/app2.js', last + draw(1, 5), draw(60, 180));
  const api = request(AJAX, 'https://shop.test/api/recommended', last + draw(20, 60),
    { wait: draw(60, 200), receive: draw(5, 20) });
  add({ kind: AJAX, name: 'recommender: rank', start: api.sent + 1, end: api.first - 1,
    parent: api.parent });
  request(THIRD, 'https://metrics.example/collect.js', last + draw(0, 90),
    { connect: draw(60, 100), wait: draw(30, 80), receive: draw(5, 30), detail: 'Metrics Ltd' });
  const pause = api.end + draw(30, 120);
  const ads = request(ADS, 'https://ads.example/tag.js', pause,
    { connect: draw(70, 120), wait: adsSlowness * draw(60, 300), receive: draw(20, 60),
      detail: 'AdCo' });
  task(ADS, 'https://ads.example/tag.js', ads.end, adsSlowness * draw(80, 260), 'AdCo');
  return calls.map((call) => (
    { ...call, start: Math.round(call.start), end: Math.round(call.end) }));
}

/** Sets `own` and `chain` of the calls; returns [us, chain us] of each kind. The even share. */
function share(calls, window) {
  const cuts = [...new Set([0, window, ...calls.flatMap(({ start, end }) => [start, end])])]
                 .sort((a, b) => a - b);
  const sums = KINDS.map(() => [0, 0]);
  for (const call of calls) Object.assign(call, { own: 0, chain: 0 });
  for (let i = 1; i < cuts.length; i += 1) {
    const [from, to] = [cuts[i - 1], cuts[i]];
    const all = calls.filter(({ start, end }) => start <= from && end >= to);
    const inner = all.filter((call) => !all.some(({ parent }) => calls[parent] === call));
    const layer = Math.min(...inner.map((call) => call.layer));
    const active = inner.filter((call) => call.layer === layer);
    let left = to - from;
    active.forEach((call, at) => {
      const part = Math.round(left / (active.length - at));
      call.own += part;
      sums[call.kind][0] += part;
      left -= part;
    });
    sums[CLIENT][0] += left;
    const waitedFor = active.at(-1);
    if (waitedFor) waitedFor.chain += to - from;
    sums[waitedFor?.kind ?? CLIENT][1] += to - from;
  }
  return sums;
}

function viewOf(random, day) {
  const network = Object.keys(NETWORKS)[Math.floor(random() ** 1.5 * 3)];
  const tags = { country: COUNTRIES[Math.floor(random() * 3)], network };
  const slowness = NETWORKS[network] * Math.exp((random() + random() + random() - 1.5) * 0.9);
  const calls = callsOf(random, slowness, day > 11 ? 2.2 : 1);
  const window = calls.reduce((end, call) => Math.max(end, call.end), 0) + 1000;
  const started = FIRST_DAY + day * DAY_MS + Math.floor(random() * DAY_MS);
  return { tags, calls, window, started, day, sums: share(calls, window) };
}

const total = (list, of) => list.reduce((sum, each) => sum + of(each), 0);
const byTime = (a, b) => b.us - a.us;

function sharesOf(views) {
  const window = total(views, (view) => view.window);
  const percent = (us) => Math.round((1e4 * us) / window) / 100;
  return KINDS.map(([kind], at) => {
    const [us, chain] = [0, 1].map((which) => total(views, (view) => view.sums[at][which]));
    return { kind, us: Math.round(us / views.length), percent: percent(us),
      chain_us: Math.round(chain / views.length), chain_percent: percent(chain) };
  }).filter((each) => each.us > 0 || each.chain_us > 0).sort(byTime);
}

function windowOf(views) {
  const windows = views.map((view) => view.window).sort((a, b) => a - b);
  const rank = (share) => windows[Math.min(windows.length - 1, Math.floor(windows.length * share))];
  return { mean: Math.round(total(windows, (each) => each) / windows.length), median: rank(0.5),
    p90: rank(0.9), min: windows[0], max: windows.at(-1) };
}

function callRowsOf(views) {
  const rows = new Map();
  const window = total(views, (view) => view.window);
  for (const call of views.flatMap((view) => view.calls)) {
    const key = [call.kind, call.total, call.detail].join('\n');
    const row = rows.get(key) ?? { kind: KINDS[call.kind][0], name: call.total,
      detail: call.detail, us: 0, chain_us: 0, count: 0, longest_us: 0 };
    rows.set(key, row);
    row.us += call.own;
    row.chain_us += call.chain;
    row.count += 1;
    row.longest_us = Math.max(row.longest_us, call.end - call.start);
  }
  return [...rows.values()].map((row) => ({ ...row, us: Math.round(row.us / views.length),
    percent: Math.round((1e4 * row.us) / window) / 100,
    chain_us: Math.round(row.chain_us / views.length) })).sort(byTime).slice(0, 500);
}

/** By host, as far as the page needs them: of requests and of the scripts that ran. */
function costsOf(views) {
  const hosts = new Map();
  const window = total(views, (view) => view.window);
  for (const call of views.flatMap((view) => view.calls)) {
    const name = /^https?:\/\/([^/]+)/.exec(call.total)?.[1] ?? 'the browser itself';
    const cost = hosts.get(name) ?? { name, us: 0, processor_us: 0, bytes: 0, requests: 0 };
    hosts.set(name, cost);
    cost.us += call.own;
    if (call.layer === 1) cost.processor_us += call.end - call.start;
    else if (call.parent < 0) Object.assign(cost, { bytes: cost.bytes + 9_000,
      requests: cost.requests + 1 });
  }
  const host = [...hosts.values()].map((cost) => ({ ...cost,
    us: Math.round(cost.us / views.length), percent: Math.round((1e4 * cost.us) / window) / 100,
    processor_us: Math.round(cost.processor_us / views.length),
    bytes: Math.round(cost.bytes / views.length), requests: cost.requests / views.length,
  })).sort(byTime);
  return { host, entity: host.slice(0, 2), script: [], setting: [] };
}

const sliceOf = (tags, views) => ({ tags, views: views.length, window_us: windowOf(views),
  shares: sharesOf(views), calls: callRowsOf(views), costs: costsOf(views) });

function grouped(views, keyOf) {
  const groups = new Map();
  for (const view of views) {
    const key = keyOf(view);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(view);
  }
  return [...groups];
}

/** `by`: tags ("network", "country"); `days`: of the trend, 0 for none. */
export function explanation({ seed = 1, views: count = 60, by = [], days = 0 } = {}) {
  const random = randomFrom(seed * 7919);
  const views = Array.from({ length: count }, (_, at) =>
    viewOf(random, Math.floor((at * Math.max(days, 1)) / count)));
  const groups = grouped(views, (view) => JSON.stringify(by.map((tag) => [tag, view.tags[tag]])))
                   .sort(([, a], [, b]) => b.length - a.length);
  const slices = groups.map(([tags, some]) => sliceOf(Object.fromEntries(JSON.parse(tags)), some));
  const placesOf = (view) =>
    (by.length > 0 ? [0, 1 + groups.findIndex(([, some]) => some.includes(view))] : [0]);
  const names = new Map();
  const nameOf = (text) => names.get(text) ?? names.set(text, names.size).get(text);
  const packed = ({ kind, name, start, end, parent, own, chain }) =>
    [kind, nameOf(name), start, end, parent, own, chain];
  const points = views.slice(0, 2000).map((view, at) => ({
    input: 0, load: at + 1, page: nameOf('https://shop.test/'), started_unix_ms: view.started,
    window_us: view.window, tags: view.tags, slices: placesOf(view),
    shares: view.sums.map(([us]) => us),
    calls: at < 200 ? view.calls.map(packed) : null,
  }));
  const trend = days === 0 ? [] : grouped(views, (view) => view.day).map(([day, some]) => ({
    day: new Date(FIRST_DAY + day * DAY_MS).toISOString().slice(0, 10), views: some.length,
    window_us: windowOf(some), shares: sharesOf(some),
  }));
  return {
    reprise: '1.0', inputs: [{ name: 'shop.ndjson', views: count, in_view: null }], views: count,
    views_read: count * 10, where: null, slowest_percent: 10, by,
    kinds: KINDS.map(([name, fix]) => ({ name, fix })),
    slices: by.length > 0 ? [sliceOf({}, views), ...slices] : [sliceOf({}, views)],
    trend, points, names: [...names.keys()],
    losses: [{ what: 'requests without an end', count: 12 }],
  };
}

/** With `text` after every text and name of a tag. */
export function withTextEverywhere(value, text, field = '') {
  const inside = (each, name) => withTextEverywhere(each, text, name);
  if (typeof value === 'string') return field === 'day' ? value : value + text;
  if (Array.isArray(value)) return value.map((each) => inside(each, field));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) =>
    [field === 'tags' ? name + text : name, inside(each, name)]));
}
