// What Lighthouse computes from a trace: node lighthouse.mjs MODULES TRACE URL. Times are ms since
// the start of the page's own request, as in results of `reprise load`.
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';

const [modules, file, url] = process.argv.slice(2);
const part = (name) => import(path.join(modules, name));
const { TraceProcessor } = await part('lighthouse/core/lib/tracehouse/trace-processor.js');
const Lantern = await part('lighthouse/core/lib/lantern/lantern.js');
const { default: speedline } = await part('speedline-core/lib/index.js');

const trace = JSON.parse(zlib.gunzipSync(fs.readFileSync(file)));
const events = trace.traceEvents.sort((a, b) => (a.ts ?? 0) - (b.ts ?? 0));
const page = events.find((event) =>
  event.name === 'navigationStart' && event.args.data?.documentLoaderURL === url);
const start = events.find((event) => event.name === 'fetchStart'
  && event.args.frame === page.args.frame && event.ts >= page.ts).ts;

const processed = TraceProcessor.processTrace(trace);
const navigation = TraceProcessor.processNavigation(processed);
const tasks = TraceProcessor.getMainThreadTopLevelEvents(processed);
const { speedIndex, complete } = await speedline(events,
  { timeOrigin: start, fastMode: false, include: 'speedIndex' });
console.log(JSON.stringify({
  speed_index_ms: speedIndex,
  visually_complete_ms: complete,
  total_blocking_ms: Lantern.Metrics.TBTUtils.calculateSumOfBlockingTime(
    tasks, navigation.timings.firstContentfulPaint, Infinity),
  largest_paint: navigation.largestContentfulPaintEvt?.args.data.nodeName ?? '',
}));
