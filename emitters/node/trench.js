// Traces what a Node server does for one request: a tree of code points with their calls and times
// (analysis/trench/TRENCH.md), sent in the response's Banky-Trace fields. README.md has examples.
// To be copied into servers: Node 18 or later, nothing else.
'use strict';

const { AsyncLocalStorage } = require('node:async_hooks');
const crypto = require('node:crypto');
const { types } = require('node:util');

const FIELD = 'Banky-Trace';
const FIELD_BYTES_MAX = 8192; // of all fields of a response, with names and line ends
const LINE = 76;
const ROWS_MAX = 50_000;
const DEPTH_MAX = 400;
const NAME_MAX = 200;
const NAMES_MAX = 2 << 20; // characters of all points together

/** "shop.Cart.tax" is the method tax of the class shop.Cart. */
function splitName(name) {
  const dot = name.lastIndexOf('.');
  // A copy, with lone surrogates replaced: a slice would keep all of a long name in memory.
  const cut = (text) => Buffer.from(text.slice(0, NAME_MAX)).toString();
  return [cut(name.slice(0, Math.max(dot, 0))), cut(name.slice(dot + 1))];
}

/** What a point is found by: names that differ beyond the limit are of one point. */
function keyOf(name) {
  return name.length > NAME_MAX ? splitName(name).join('.') : name;
}

/** What one request did. Calls beyond a limit count as their caller's own time. */
class Trace {
  /** `clock` returns ms that never go back. */
  constructor(clock = () => performance.now()) {
    this.clock = clock;
    this.points = new Map(); // by name, cut: { place, name, line }
    this.namesLength = 0;
    this.rowCount = 0;
    this.closed = false;
    this.root = { depth: 0, called: new Map() };
  }

  /** A call begins. Returns its row, or null if there is no room for it. `line()` is asked once. */
  enter(caller, name, line = () => -1) {
    const key = keyOf(name);
    const point = this.points.get(key) ?? this.addPoint(key, line);
    if (!point) return null;
    let row = caller.called.get(point.place);
    if (!row) {
      if (this.rowCount === ROWS_MAX || caller.depth === DEPTH_MAX) return null;
      this.rowCount += 1;
      row = { point: point.place, hits: 0, ms: 0, running: 0, depth: caller.depth + 1,
        called: new Map() };
      caller.called.set(point.place, row);
    }
    row.hits += 1;
    row.running += 1;
    row.ms -= this.clock();
    return row;
  }

  leave(row) {
    row.running -= 1;
    row.ms += this.clock();
  }

  addPoint(key, line) {
    const length = key.length + 40;
    if (length > NAMES_MAX - this.namesLength) return null;
    this.namesLength += length;
    const point = { place: this.points.size, name: splitName(key), line: line() };
    this.points.set(key, point);
    return point;
  }

  /** All that happened up to now. Calls that have not ended count as if they ended now. */
  json() {
    const now = this.clock();
    const stack = [];
    const add = (row) => {
      const ms = Math.round((row.ms + row.running * now) * 1000) / 1000;
      const written = [row.point, row.hits, Math.max(ms, 0), []];
      const place = stack.push(written) - 1;
      for (const called of row.called.values()) written[3].push(add(called));
      return place;
    };
    for (const row of this.root.called.values()) add(row);
    const classes = new Map();
    const points = [...this.points.values()].map(({ name: [className, method], line }) => {
      if (!classes.has(className)) classes.set(className, classes.size);
      return [classes.get(className), method, line];
    });
    return JSON.stringify({
      version: 1,
      stackColumns: ['point', 'hits', 'ms', 'children'],
      stack,
      classesColumns: ['name'],
      classes: [...classes.keys()].map((name) => [name]),
      pointsColumns: ['class', 'method', 'line'],
      points,
    });
  }
}

const places = new AsyncLocalStorage(); // of { trace, row }
let live = 0; // traces that have not ended

function lineOfCaller() {
  const { stack = '' } = new Error();
  const outside = stack.split('\n').slice(1).find((line) => !line.includes(__filename));
  return Number(/:(\d+):\d+\)?$/.exec(outside ?? '')?.[1] ?? -1);
}

/**
 * Calls `callable` as the code point `name` ("shop.Cart.tax") and returns its result. If that is a
 * promise, the call ends when the promise is settled. Without a trace it costs one branch.
 */
function trace(name, callable) {
  if (live === 0) return callable();
  const place = places.getStore();
  if (!place || place.trace.closed) return callable();
  const row = place.trace.enter(place.row, name, lineOfCaller);
  if (!row) return callable();
  const leave = () => place.trace.leave(row);
  let result;
  try {
    result = places.run({ trace: place.trace, row }, callable);
  } catch (error) {
    leave();
    throw error;
  }
  if (!types.isPromise(result)) {
    leave();
    return result;
  }
  return result.then((value) => {
    leave();
    return value;
  }, (error) => {
    leave();
    throw error;
  });
}

/** Traces all methods of a class from now on, as `className.method`. Returns the class. */
function traceMethods(traced, className = traced.name) {
  for (const method of Object.getOwnPropertyNames(traced.prototype)) {
    const property = Object.getOwnPropertyDescriptor(traced.prototype, method);
    if (method === 'constructor' || typeof property.value !== 'function') continue;
    const called = property.value;
    property.value = function tracedMethod(...values) {
      return trace(`${className}.${method}`, () => called.apply(this, values));
    };
    Object.defineProperty(traced.prototype, method, property);
  }
  return traced;
}

/** Which requests are traced, by the variable BANKY_TRACE: none unless it is set. */
class Asking {
  constructor(environment = process.env) {
    const setting = environment.BANKY_TRACE ?? '';
    this.all = setting === 'on' && environment.NODE_ENV !== 'production';
    const key = setting.startsWith('ask:') ? setting.slice(4) : '';
    this.key = key.length >= 16 ? Buffer.from(key) : null;
  }

  get possible() {
    return this.all || this.key !== null;
  }

  /** `asked` is the request's Banky-Trace field. */
  traces(asked) {
    if (this.all) return true;
    if (!this.key || typeof asked !== 'string') return false;
    const given = Buffer.from(asked);
    return given.length === this.key.length && crypto.timingSafeEqual(given, this.key);
  }
}

/** Traces that are too long for header fields. */
class Store {
  static KEPT_MS = 60_000;
  static TRACES_MAX = 64;
  static BYTES_MAX = 32 << 20;
  static PATH = '/banky-trace/'; // then 32 hexadecimal digits

  constructor(clock = () => performance.now()) {
    this.clock = clock;
    this.kept = new Map(); // by path: { json, bytes, until }
    this.bytes = 0;
  }

  /** Returns the path of its URL. Beyond a limit, the oldest are dropped. */
  keep(json) {
    const path = Store.PATH + crypto.randomBytes(16).toString('hex');
    const bytes = Buffer.byteLength(json);
    this.kept.set(path, { json, bytes, until: this.clock() + Store.KEPT_MS });
    this.bytes += bytes;
    this.drop();
    return path;
  }

  find(path) {
    this.drop();
    return this.kept.get(path)?.json;
  }

  drop() {
    const now = this.clock();
    for (const [path, { bytes, until }] of this.kept) {
      const isOver = until <= now || this.kept.size > Store.TRACES_MAX
        || this.bytes > Store.BYTES_MAX;
      if (!isOver) return;
      this.kept.delete(path);
      this.bytes -= bytes;
    }
  }
}

/** As of zlib and PNG. */
function crc32(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

/** The values of the Banky-Trace fields that carry this JSON. */
function fieldValues(json) {
  const bytes = Buffer.from(json);
  const text = bytes.toString('base64');
  const lines = text.match(new RegExp(`.{1,${LINE}}`, 'g'));
  return [`base64lines=${lines.length}; base64bytes=${text.length}; jsoncrc32=${crc32(bytes)};`
    + ` jsonbytes=${bytes.length}`, ...lines.map((line, i) => `${i}=${line}`)];
}

/** Those of a response that is about to be sent: the trace, or its URL if that is too long. */
function responseValues(traced, store) {
  const json = traced.json();
  // No need to encode what cannot fit.
  const values = json.length < FIELD_BYTES_MAX ? fieldValues(json) : [];
  const bytes = values.reduce((sum, value) => sum + FIELD.length + value.length + 4, 0);
  if (bytes > 0 && bytes <= FIELD_BYTES_MAX) return values;
  return [`url=${store.keep(json)}`];
}

/** Adds `values()` just before the head of `response` is sent. */
function beforeHead(response, values) {
  const { writeHead } = response;
  response.writeHead = function writeHeadWithTrace(status, ...rest) {
    response.writeHead = writeHead;
    const headers = rest.at(-1);
    if (Array.isArray(headers) && response.getHeaderNames().length === 0) {
      // As sent on the wire: pairs, or names and values in turn.
      const arePairs = Array.isArray(headers[0]);
      const added = values().map((value) => [FIELD, value]);
      rest[rest.length - 1] = [...headers, ...(arePairs ? added : added.flat())];
    } else if (!response.headersSent) {
      response.setHeader(FIELD, values());
    }
    return writeHead.call(response, status, ...rest);
  };
}

/** Node emits the events of a request, such as those of its body, outside of `place`. */
function emitInside(request, place) {
  const { emit } = request;
  request.emit = function emitInPlace(...event) {
    if (places.getStore()?.trace === place.trace) return emit.apply(request, event);
    return places.run(place, () => emit.apply(request, event));
  };
}

/**
 * Middleware of Express, Connect and plain `http`: calls `next()`, in a trace if the request is to
 * be traced; answers requests for stored traces itself.
 */
function middleware({ environment = process.env, clock } = {}) {
  const asking = new Asking(environment);
  if (!asking.possible) return (request, response, next) => next();
  const store = new Store();
  return (request, response, next) => {
    const [path] = (request.originalUrl ?? request.url).split('?');
    if (request.method === 'GET' && path.startsWith(Store.PATH)) {
      const json = store.find(path);
      response.statusCode = json ? 200 : 404;
      response.setHeader('Content-Type', 'application/json');
      response.setHeader('Cache-Control', 'no-store');
      response.end(json ?? '{}');
      return undefined;
    }
    if (!asking.traces(request.headers[FIELD.toLowerCase()])) return next();
    const traced = new Trace(clock);
    live += 1;
    response.once('close', () => {
      traced.closed = true;
      live -= 1;
    });
    beforeHead(response, () => responseValues(traced, store));
    const place = { trace: traced, row: traced.root };
    emitInside(request, place);
    return places.run(place, next);
  };
}

/** A handler for `http.createServer` that traces `handler`. */
function handler(handle, options) {
  const use = middleware(options);
  return (request, response) => use(request, response, () => handle(request, response));
}

/** A plugin of Fastify, for all routes: `app.register(fastify)`. */
function fastify(app, options, done) {
  const use = middleware(options);
  const isPossible = new Asking(options.environment ?? process.env).possible;
  app.addHook('onRequest', (request, reply, next) => {
    const { method, url } = request.raw;
    // What is asked for here is answered by the middleware alone.
    if (isPossible && method === 'GET' && url.startsWith(Store.PATH)) reply.hijack();
    use(request.raw, reply.raw, next);
  });
  done();
}
fastify[Symbol.for('skip-override')] = true; // the hook is not only for the plugin's own routes

module.exports = { trace, traceMethods, middleware, handler, fastify, Trace, Store, Asking,
  fieldValues, responseValues };
