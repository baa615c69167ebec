// What Lighthouse's simulation (Lantern) predicts: node lantern.mjs MODULES URL CHANGES TRACE...
// CHANGES is JSON: a name -> {rtt_ms, kbps, slowdown} and, of what changes, {think: [filter of
// hosts, ms], decoded: [type], halved: [type]}. Prints JSON: name -> milestone -> a time in ms for
// each trace.
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';

const [modules, url, changes, ...files] = process.argv.slice(2);
const core = (name) => import(path.join(modules, 'lighthouse/core', name));
const Lantern = await core('lib/lantern/lantern.js');
const { TraceEngineResult } = await core('computed/trace-engine-result.js');
const { FirstContentfulPaint, LargestContentfulPaint } = Lantern.Metrics;
const { createGraph, createNetworkRequests, createProcessedNavigation } =
  Lantern.TraceEngineComputationData;

/** The transfer size after a change, as Lighthouse's audits of bytes change it. */
function sizeOf(request, { decoded = [], halved = [] }) {
  if (decoded.includes(request.resourceType)) return request.resourceSize;
  if (halved.includes(request.resourceType)) return request.transferSize / 2;
  return request.transferSize;
}

/** Whether a host passes a filter such as `host=a.test` or `!host=.a.test`. */
function passes(filter, host) {
  const [, not, dot, name] = /^(!?)host=(\.?)(.*)$/.exec(filter);
  const is = host === name || (dot !== '' && host.endsWith(`.${name}`));
  return is !== (not === '!');
}

/** First and largest contentful paint of the page of a trace if it were changed. */
function predicted({ trace, parsedTrace }, change) {
  const requests = createNetworkRequests(trace, parsedTrace);
  const networkAnalysis = Lantern.Core.NetworkAnalyzer.analyze(requests);
  for (const request of requests) request.transferSize = sizeOf(request, change);
  const [filter, thinkMs] = change.think ?? [];
  const served = networkAnalysis.serverResponseTimeByOrigin;
  for (const [origin, ms] of served) {
    if (filter && URL.canParse(origin) && passes(filter, new URL(origin).host)) {
      served.set(origin, ms + thinkMs);
    }
  }
  const graph = createGraph(requests, trace, parsedTrace,
    { requestedUrl: url, mainDocumentUrl: url });
  const { mainFrameId, mainFrameNavigations } = parsedTrace.Meta;
  const processedNavigation = createProcessedNavigation(parsedTrace, mainFrameId,
    mainFrameNavigations[0].args.data.navigationId);
  const simulator = Lantern.Simulation.Simulator.createSimulator({
    throttlingMethod: 'simulate',
    throttling: { rttMs: change.rtt_ms, throughputKbps: change.kbps * 1000 / 1024,
      cpuSlowdownMultiplier: change.slowdown },
    networkAnalysis,
  });
  const data = { simulator, graph, processedNavigation };
  const fcpResult = FirstContentfulPaint.compute(data);
  const lcpResult = LargestContentfulPaint.compute(data, { fcpResult });
  return {
    'first contentful paint': fcpResult.timing,
    'largest contentful paint': lcpResult.timing,
  };
}

const told = {};
for (const file of files) {
  const trace = JSON.parse(zlib.gunzipSync(fs.readFileSync(file)));
  const { parsedTrace } = await TraceEngineResult.runTraceEngine(trace.traceEvents, {}, []);
  for (const [name, change] of Object.entries(JSON.parse(changes))) {
    told[name] ??= {};
    for (const [milestone, ms] of Object.entries(predicted({ trace, parsedTrace }, change))) {
      (told[name][milestone] ??= []).push(ms);
    }
  }
}
console.log(JSON.stringify(told));
