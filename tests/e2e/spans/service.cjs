// A service with OpenTelemetry, PostgreSQL and Redis, which predict-service predicts and
// service_deployment.py deploys. Prints its port; its spans go to the file SPANS. Changed by its
// environment: DATABASE and CACHE_PORT are where its dependencies are, ROWS how much it asks for,
// OWN_MS how long it computes.
"use strict";

const fs = require("fs");
const { JsonTraceSerializer } = require("@opentelemetry/otlp-transformer");
const { NodeTracerProvider } = require("@opentelemetry/sdk-trace-node");
const { BatchSpanProcessor } = require("@opentelemetry/sdk-trace-base");
const { resourceFromAttributes } = require("@opentelemetry/resources");
const { registerInstrumentations } = require("@opentelemetry/instrumentation");
const { HttpInstrumentation } = require("@opentelemetry/instrumentation-http");
const { PgInstrumentation } = require("@opentelemetry/instrumentation-pg");
const { RedisInstrumentation } = require("@opentelemetry/instrumentation-redis");

const toFile = {
  export(spans, done) {
    fs.appendFileSync(process.env.SPANS,
      Buffer.concat([JsonTraceSerializer.serializeRequest(spans), Buffer.from("\n")]));
    done({ code: 0 });
  },
  shutdown: async () => {},
};
// Written between the measurements only: it would disturb them.
const processor = new BatchSpanProcessor(toFile, {
  maxQueueSize: 1 << 20, maxExportBatchSize: 1 << 16, scheduledDelayMillis: 1 << 30 });
const provider = new NodeTracerProvider({
  resource: resourceFromAttributes({ "service.name": "catalogue" }),
  spanProcessors: [processor],
});
provider.register();
registerInstrumentations({
  instrumentations: [new HttpInstrumentation(), new PgInstrumentation(),
                     new RedisInstrumentation()],
});

// Loaded after they are instrumented.
const http = require("http");
const { Pool } = require("pg");
const { createClient } = require("redis");

const ROWS = Number(process.env.ROWS ?? 2000);
const OWN_MS = Number(process.env.OWN_MS ?? 1);

function compute(ms) {
  let sum = 0;
  for (const end = performance.now() + ms; performance.now() < end;) sum += Math.sqrt(end);
  return sum;
}

async function main() {
  const database = new Pool({ host: process.env.DATABASE, database: "postgres", max: 100,
                              port: Number(process.env.DATABASE_PORT ?? 5432),
                              idleTimeoutMillis: 0 });
  const cache = createClient({ socket: { host: "127.0.0.1",
                                         port: Number(process.env.CACHE_PORT) } });
  await cache.connect();

  const number = (rows) => Math.floor(Math.random() * rows);

  const ask = (statement, from) => database.query(
    `SELECT ${statement} FROM articles WHERE id BETWEEN $1 AND $2`,
    [from, from + 1 + number(ROWS)]);
  const names = (from) => ask("count(*), avg(length(name))", from);
  const prices = (from) => ask("max(price)", from);

  // Articles and what the cache has, at once; then their prices.
  async function article() {
    const key = `article ${number(50)}`;
    const from = number(90_000);
    const [kept, found] = await Promise.all([cache.get(key), names(from)]);
    compute(OWN_MS * (.5 + Math.random()));
    const priced = await prices(from);
    compute(OWN_MS * (.5 + Math.random()));
    if (kept === null) await cache.set(key, "x".repeat(100), { EX: 1 });
    return JSON.stringify({ found: found.rows[0], prices: priced.rows[0] });
  }

  // A document that waits for an article, and then needs the rest. All of them have its query.
  const page = async (query) => `<!doctype html><title>Catalogue</title>
<link rel=icon href=data:,><link rel=stylesheet href="/page.css${query}">
<h1>Catalogue</h1><p>${await article()}</p><img src="/page.svg${query}" alt="">
<script src="/page.js${query}"></script>`;

  // Processor time of the main thread, in ms.
  const busy = () => Number(fs.readFileSync("/proc/self/schedstat", "utf8").split(" ")[0]) / 1e6;
  let before = busy();
  const answers = {
    "/article": article,
    "/page": page,
    "/page.css": async () => "p { color: green }",
    "/page.js": async () => "document.title += ' is read';",
    "/page.svg": async () => "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>",
    // Its queries with nothing around them, for profiles.
    "/database": async () => {
      await (Math.random() < .5 ? names : prices)(number(90_000));
      return "{}";
    },
    // Returns how long it was busy since the last time.
    "/written": async () => {
      const busy_ms = busy() - before;
      await processor.forceFlush();
      before = busy();
      return JSON.stringify({ busy_ms });
    },
  };
  const types = { "/page": "text/html", "/page.css": "text/css", "/page.js": "text/javascript",
                  "/page.svg": "image/svg+xml" };
  const server = http.createServer(async (request, response) => {
    const { pathname, search } = new URL(request.url, "http://service");
    const answer = answers[pathname];
    if (!answer) {
      response.writeHead(404).end();
      return;
    }
    const body = await answer(search);
    response.writeHead(200, { "Content-Type": types[pathname] ?? "application/json",
                              "Content-Length": Buffer.byteLength(body) });
    response.end(body);
  });
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));
}

main();
