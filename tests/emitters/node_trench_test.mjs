// What the Node emitter writes, read by analysis/trench.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import http from 'node:http';
import test from 'node:test';
import {setTimeout as pause} from 'node:timers/promises';

import trench from '../../emitters/node/trench.js';
import {testSeed} from '../test_seed.mjs';

const {Asking, Store, Trace, fieldValues, handler, middleware, responseValues, trace,
  traceMethods} = trench;
const KEY = '0123456789abcdef';

/// What analysis/trench makes of the fields of each of these responses.
function readAll(responses) {
  const input = responses.map((values) => `${JSON.stringify(values)}\n`).join('');
  const done = spawnSync(process.env.READ_TRENCH, {input, maxBuffer: 1 << 28});
  assert.equal(done.status, 0, String(done.stderr));
  return String(done.stdout).split('\n').slice(0, -1);
}
const read = (values) => JSON.parse(readAll([values])[0]);

/// ["Class.method hits", ...], each indented by its depth.
function shapeOf({stack, classes, points}) {
  const lines = [];
  const isCalled = new Set(stack.flatMap((row) => row[3]));
  const add = (place, depth) => {
    const [point, hits, , children] = stack[place];
    const [of, method] = points[point];
    lines.push(`${' '.repeat(depth)}${classes[of][0]}.${method} ${hits}`);
    children.forEach((child) => add(child, depth + 1));
  };
  stack.forEach((row, place) => isCalled.has(place) || add(place, 0));
  return lines;
}

/// A server with `listener`, asked for `path`: the head's trace fields, and the body.
async function ask(listener, {path = '/', headers = {}, method = 'GET', sent} = {}) {
  const server = http.createServer(listener);
  await new Promise((done) => { server.listen(0, '127.0.0.1', done); });
  const {port} = server.address();
  const answered = await new Promise((done, fail) => {
    http.request({port, path, headers, method, agent: false}, (response) => {
      const pairs = response.rawHeaders;
      const values = pairs.filter((_, i) => i % 2 && pairs[i - 1] === 'Banky-Trace');
      let body = '';
      response.on('data', (piece) => { body += piece; });
      response.on('end', () => done({values, body, status: response.statusCode, pairs}));
    }).on('error', fail).end(sent);
  });
  await new Promise((done) => { server.close(done); });
  return answered;
}
const environment = {BANKY_TRACE: 'on'};

/// Draws numbers below `limit`.
function drawing(seed) {
  let state = BigInt(seed) * 2654435761n + 1n;
  return (limit) => {
    state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
    return Number(state >> 33n) % limit;
  };
}

const NAMES = ['a.b', 'a.c', 'plain', 'shop.Cart.tax', 'x"\\\n.é', '𝄞.𝄞', '.', 'z..z'];

test('random trees are read as they were', () => {
  const responses = [];
  const wanted = [];
  for (let round = 0; round < 500; round += 1) {
    const draw = drawing(testSeed + round);
    let now = 0; // in us
    const traced = new Trace(() => now / 1000);
    const points = new Map();
    const root = {rows: new Map()};
    let left = 1 + draw(60);
    const call = (caller, row, depth) => {
      left -= 1;
      const name = NAMES[draw(NAMES.length)];
      if (!points.has(name)) points.set(name, points.size);
      if (!row.rows.has(name)) row.rows.set(name, {hits: 0, us: 0, rows: new Map()});
      const mine = row.rows.get(name);
      const began = now;
      const entered = traced.enter(caller, name);
      now += draw(3000);
      while (left > 0 && depth < 30 && draw(3) > 0) call(entered, mine, depth + 1);
      traced.leave(entered);
      mine.hits += 1;
      mine.us += now - began;
    };
    while (left > 0) call(traced.root, root, 0);

    const stack = [];
    const add = (name, {hits, us, rows}) => {
      const row = [points.get(name), hits, us / 1000, []];
      const place = stack.push(row) - 1;
      for (const [each, called] of rows) row[3].push(add(each, called));
      return place;
    };
    for (const [each, called] of root.rows) add(each, called);
    wanted.push({stack, names: [...points.keys()]});
    responses.push(fieldValues(traced.json()));
  }
  const answers = readAll(responses);
  assert.equal(answers.length, 500);
  answers.forEach((answer, round) => {
    const {stack, classes, points} = JSON.parse(answer);
    assert.deepEqual(stack, wanted[round].stack, `round ${round}`);
    const names = points.map(([of, method]) => `${classes[of][0]}.${method}`);
    const full = wanted[round].names.map((name) => (name.includes('.') ? name : `.${name}`));
    assert.deepEqual(names, full, `round ${round}`);
  });
});

test('a request is traced through promises, and others beside it are not mixed in', async () => {
  const page = (name) => trace(`shop.Page.${name}`, async () => {
    await Promise.all([trace('shop.Db.query', () => pause(1)), trace('shop.Db.query', () => 0)]);
    await pause(1);
    return trace('shop.View.render', () => 'page');
  });
  const listener = handler(async (request, response) => {
    response.end(await page(request.url.slice(1)));
  }, {environment});
  const answers = await Promise.all(['one', 'two'].map((name) => ask(listener,
    {path: `/${name}`})));
  for (const [i, name] of ['one', 'two'].entries()) {
    assert.equal(answers[i].body, 'page');
    const traced = read(answers[i].values);
    assert.deepEqual(shapeOf(traced),
      [`shop.Page.${name} 1`, ' shop.Db.query 2', ' shop.View.render 1']);
    assert.ok(traced.points.every(([, , line]) => line > 0 && line < 400));
    assert.ok(traced.stack[0][2] > 0);
  }
});

test('listeners of the body of a request are traced', async () => {
  const listener = handler((request, response) => trace('shop.Page.take', () => {
    let text = '';
    request.on('data', (piece) => trace('shop.Form.add', () => { text += piece; }));
    request.on('end', () => response.end(trace('shop.Form.read', () => text)));
  }), {environment});
  const {values, body} = await ask(listener, {method: 'POST', sent: 'a=1'});
  assert.equal(body, 'a=1');
  // Node can emit events inside the call that added their listeners.
  assert.deepEqual(shapeOf(read(values)).map((line) => line.trim()),
    ['shop.Page.take 1', 'shop.Form.add 1', 'shop.Form.read 1']);
});

test('errors and results pass, and methods of classes can be traced', async () => {
  class Cart {
    static made = 0;

    constructor() { this.rate = 2; }

    tax(sum) { return sum * this.rate; }

    async lose() { throw new Error('lost'); }

    get size() { return 3; }
  }
  traceMethods(Cart, 'shop.Cart');
  const seen = [];
  const listener = handler(async (request, response) => {
    const cart = new Cart();
    seen.push(cart.tax(4), cart.size);
    await cart.lose().catch((error) => seen.push(error.message));
    try {
      trace('shop.fail', () => { throw new Error('failed'); });
    } catch (error) {
      seen.push(error.message);
    }
    response.end();
  }, {environment});
  const {values} = await ask(listener);
  assert.deepEqual(seen, [8, 3, 'lost', 'failed']);
  assert.deepEqual(shapeOf(read(values)),
    ['shop.Cart.tax 1', 'shop.Cart.lose 1', 'shop.fail 1']);
  assert.equal(trace('a', () => 5), 5);
});

test('heads of all forms get the fields', async () => {
  const heads = [
    (response) => response.end('x'),
    (response) => response.writeHead(201).end('x'),
    (response) => response.writeHead(201, 'Made', {'X-One': '1'}).end('x'),
    (response) => response.writeHead(201, {'X-One': '1'}).end('x'),
    (response) => response.writeHead(201, ['X-One', '1', 'Set-Cookie', 'a', 'Set-Cookie', 'b'])
      .end('x'),
    (response) => { response.setHeader('X-One', '1'); response.write('x'); response.end(); },
  ];
  for (const [i, head] of heads.entries()) {
    const listener = handler((request, response) => {
      trace('a.b', () => 0);
      head(response);
      trace('too.late', () => 0);
    }, {environment});
    const {values, body, pairs, status} = await ask(listener);
    assert.deepEqual(shapeOf(read(values)), ['a.b 1'], `head ${i}`);
    assert.equal(body, 'x');
    assert.equal(status, i >= 1 && i <= 4 ? 201 : 200);
    assert.equal(pairs.includes('X-One'), i >= 2);
    assert.equal(pairs.filter((text) => text === 'Set-Cookie').length, i === 4 ? 2 : 0);
  }
});

test('a long trace is at its URL for a minute', async () => {
  const listener = handler((request, response) => {
    for (let i = 0; i < 400; i += 1) trace(`shop.Cart.part${i}`, () => 0);
    response.end();
  }, {environment});
  const {values} = await ask(listener);
  assert.match(values.join(), /^url=\/banky-trace\/[0-9a-f]{32}$/);
  const {body, pairs} = await ask(listener, {path: values[0].slice(4)});
  assert.equal(shapeOf(JSON.parse(body)).length, 400);
  assert.ok(pairs.includes('no-store'));
  const {status} = await ask(listener, {path: `/banky-trace/${'0'.repeat(32)}`});
  assert.equal(status, 404);

  let now = 0;
  const store = new Store(() => now);
  const path = store.keep('x');
  now = Store.KEPT_MS - 1;
  assert.equal(store.find(path), 'x');
  now += 1;
  assert.equal(store.find(path), undefined);
  const first = store.keep('first');
  for (let i = 1; i < Store.TRACES_MAX; i += 1) store.keep('');
  assert.equal(store.find(first), 'first');
  const large = store.keep('x'.repeat(Store.BYTES_MAX));
  assert.equal(store.find(first), undefined);
  assert.ok(store.find(large));
});

test('fields are at most 8 KB', () => {
  const traced = new Trace(() => 0);
  const store = new Store();
  for (let i = 0; ; i += 1) {
    const values = responseValues(traced, store);
    if (values.length === 1) break;
    const bytes = values.reduce((sum, value) => sum + `Banky-Trace: ${value}\r\n`.length, 0);
    assert.ok(bytes <= 8192);
    assert.ok(i < 1000);
    traced.enter(traced.root, `shop.Cart.part${i}`);
  }
  assert.ok(traced.rowCount > 100);
});

test('a trace has limits', () => {
  const deep = new Trace(() => 0);
  let row = deep.root;
  for (let next = row; next; next = deep.enter(row, 'a')) row = next;
  assert.equal(row.depth, 400);
  const wide = new Trace(() => 0);
  for (let i = 0; i < 300; i += 1) {
    const outer = wide.enter(wide.root, `${i}`);
    for (let j = 0; j < 300 && outer; j += 1) wide.enter(outer, `${j}`);
  }
  assert.equal(read(fieldValues(wide.json())).stack.length, 50_000);
  const long = new Trace(() => 0);
  for (let i = 0; i < 100_000; i += 1) long.enter(long.root, `${i}.${'𝄞'.repeat(1000)}`);
  const {points} = read(fieldValues(long.json()));
  assert.ok(points.length < 10_000);
  assert.equal(points[0][1], '𝄞'.repeat(100));
  assert.ok(long.namesLength <= 2 << 20);
  assert.ok(long.enter(long.root, 'a'), 'a short name fits where a long one did not');
});

test('a long name is cut before anything is kept', () => {
  const traced = new Trace(() => 0);
  const [className, method] = [`K${'k'.repeat(199)}`, `m${'n'.repeat(199)}`];
  const row = traced.enter(traced.root, `${className}.${method}`);
  for (const tail of ['1', '2'.repeat(1_000_000)]) {
    assert.equal(traced.enter(traced.root, `${className}.${method}${tail}`), row);
    assert.equal(traced.enter(traced.root, `${className}${tail}.${method}`), row);
  }
  assert.equal(row.hits, 5);
  traced.enter(traced.root, 'x'.repeat(1_000_000));
  traced.enter(traced.root, `${'x'.repeat(1_000_000)}.`);
  const lengths = [...traced.points.keys()].map((key) => key.length);
  assert.deepEqual(lengths, [401, 201, 201]);
  const {classes, points} = read(fieldValues(traced.json()));
  const names = points.map(([of, name]) => [classes[of][0].length, name.length]);
  assert.deepEqual(names, [[200, 200], [0, 200], [200, 0]]);
});

test('nothing is traced unless the environment says so', async () => {
  const listening = (variables) => handler((request, response) => {
    response.end(trace('a.b', () => 'x'));
  }, {environment: variables});
  const asked = {headers: {'Banky-Trace': KEY}};
  for (const [variables, options, isTraced] of [
    [{}, asked, false],
    [{BANKY_TRACE: 'off'}, {headers: {'Banky-Trace': 'off'}}, false],
    [{BANKY_TRACE: 'on', NODE_ENV: 'production'}, asked, false],
    [{BANKY_TRACE: 'ask:short'}, {headers: {'Banky-Trace': 'short'}}, false],
    [{BANKY_TRACE: `ask:${KEY}`}, {}, false],
    [{BANKY_TRACE: `ask:${KEY}`}, {headers: {'Banky-Trace': `${KEY}0`}}, false],
    [{BANKY_TRACE: `ask:${KEY}`, NODE_ENV: 'production'}, asked, true],
    [{BANKY_TRACE: 'on'}, {}, true],
  ]) {
    const {values, body} = await ask(listening(variables), options);
    assert.equal(body, 'x');
    assert.equal(values.length > 0, isTraced, JSON.stringify([variables, options]));
  }
  assert.equal(new Asking({}).possible, false);
});

test('middleware passes errors of what comes after it', () => {
  const use = middleware({environment: {}});
  assert.throws(() => use({}, {}, () => { throw new Error('after'); }), /after/);
});
