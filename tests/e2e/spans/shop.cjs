// A shop with OpenTelemetry, PostgreSQL and Redis. Prints its port; its spans go to the file SPANS,
// one OTLP/JSON object a line, as the Collector writes them. Its cart asks a slow query.
"use strict";

const fs = require("fs");
const { JsonTraceSerializer } = require("@opentelemetry/otlp-transformer");
const { NodeTracerProvider } = require("@opentelemetry/sdk-trace-node");
const { SimpleSpanProcessor } = require("@opentelemetry/sdk-trace-base");
const { resourceFromAttributes } = require("@opentelemetry/resources");
const { registerInstrumentations } = require("@opentelemetry/instrumentation");
const { HttpInstrumentation } = require("@opentelemetry/instrumentation-http");
const { PgInstrumentation } = require("@opentelemetry/instrumentation-pg");
const { RedisInstrumentation } = require("@opentelemetry/instrumentation-redis");

const toFile = {
  export(spans, done) {
    fs.appendFileSync(process.env.SPANS, JsonTraceSerializer.serializeRequest(spans));
    fs.appendFileSync(process.env.SPANS, "\n");
    done({ code: 0 });
  },
  shutdown: async () => {},
};
const provider = new NodeTracerProvider({
  resource: resourceFromAttributes({ "service.name": "shop", "cloud.region": "test-1" }),
  spanProcessors: [new SimpleSpanProcessor(toFile)],
});
provider.register();
registerInstrumentations({
  instrumentations: [new HttpInstrumentation(), new PgInstrumentation(),
                     new RedisInstrumentation()],
});

// Loaded after they are instrumented.
const http = require("http");
const { Client } = require("pg");
const { createClient } = require("redis");

const PAGE = `<!doctype html><title>Shop</title><link rel=icon href=data:,><h1>Shop</h1>
<img src=/logo.svg><script>fetch("/cart")</script>`;
const LOGO = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>";

async function main() {
  const database = new Client({ host: process.env.DATABASE, database: "postgres" });
  await database.connect();
  const cache = createClient({ socket: { path: process.env.CACHE } });
  await cache.connect();

  async function cart() {
    const greeting = (await cache.get("greeting")) ?? "nobody";
    await cache.set("greeting", "hello");
    const { rows } = await database.query("SELECT 'tea' AS article, pg_sleep(0.4)::text AS slept");
    return JSON.stringify({ greeting, article: rows[0].article });
  }

  const answers = {
    "/": async () => ["text/html", PAGE],
    "/logo.svg": async () => ["image/svg+xml", LOGO],
    "/cart": async () => ["application/json", await cart()],
  };
  const server = http.createServer(async (request, response) => {
    const answer = answers[request.url];
    if (!answer) {
      response.writeHead(404).end();
      return;
    }
    const [type, body] = await answer();
    response.writeHead(200, { "Content-Type": type, "Content-Length": Buffer.byteLength(body) });
    response.end(body);
  });
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));
}

main();
