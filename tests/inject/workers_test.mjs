// What the workers of a page run, if their scripts come from blob: and data: URLs.
//
// node workers_test.mjs SCRIPT_TEMPLATE.cc
import assert from 'node:assert';
import vm from 'node:vm';
import { enter, realmIn } from './zone_realm.mjs';

/** A realm with workers that do nothing; `urls` gets its blobs. */
function realmWithWorkers(urls) {
  class Worker {
    constructor(url) { this.url = url; }
  }
  return realmIn(undefined, {
    atob,
    btoa,
    Blob: class Blob {
      constructor(parts) { this.parts = parts; }
    },
    URL: class URL {
      static createObjectURL(blob) {
        const url = `blob:${urls.size}`;
        urls.set(url, blob);
        return url;
      }
      static revokeObjectURL() {}
    },
    Worker,
    SharedWorker: class SharedWorker extends Worker {},
  });
}

/** The whole script of the worker that `code` makes, with the fragment of its URL. */
function ranBy(code) {
  const urls = new Map();
  const textOf = (part) => (typeof part === 'string' ? part : part.parts.map(textOf).join(''));
  const { url } = vm.runInContext(code, realmWithWorkers(urls));
  const [place] = url.split('#', 1);
  return urls.has(place) ? textOf(urls.get(place)) + url.slice(place.length) : url;
}

const ofBlob = (script) =>
  ranBy(`new Worker(URL.createObjectURL(new Blob([${JSON.stringify(script)}])))`);
const startsStrict = (script) => script.startsWith('"use strict";(function');

const named = ranBy('new Worker(`${URL.createObjectURL(new Blob(["work()"]))}#part`)');
assert(named.startsWith('(function') && named.endsWith(');work()#part'), named.slice(-20));

// A directive stays one, behind any comments.
for (const [script, isStrict] of [
  ['"use strict"; work()', true],
  [' \n\'use strict\'', true],
  ['// x\n/* * " **/ // y\r\t/**/"use strict"', true],
  ['work()', false],
  ['', false],
  ['"use strict\'', false],
  ['/ "use strict"', false],
  ['// "use strict"', false],
  ['/* "use strict"', false],
  ['x; "use strict"', false],
]) {
  const ran = ofBlob(script);
  assert.strictEqual(startsStrict(ran), isStrict, script);
  assert(startsStrict(ran) || ran.startsWith('(function'), script);
  assert(ran.endsWith(`);${script}`), script);
}

const ofData = (url) => ranBy(`new Worker(${JSON.stringify(url)})`);
/** The script of a data: URL that is base64, and what follows it. */
function parted(url) {
  const [, coded, fragment] = /^data:text\/javascript;base64,([^#]*)(.*)$/.exec(url);
  return [atob(coded), fragment];
}

// Base64 can have escapes, which belong to the URL, and line ends; a fragment comes after it.
for (const [coded, script, fragment] of [
  ['d29yaygp', 'work()', ''],
  ['d29yaygpOw==#part', 'work();', '#part'],
  ['d29yaygpOw%3D%3d', 'work();', ''],
  ['d29y\n%61ygp%20Ow', 'work();', ''],
]) {
  const [ran, rest] = parted(ofData(`data:text/javascript;base64,${coded}`));
  assert(ran.startsWith('(function') && ran.endsWith(`);${script}`), coded);
  assert.strictEqual(rest, fragment, coded);
}
for (const directive of ['"use strict";x', '// "\n\'use strict\';x']) {
  const [ran] = parted(ofData(`data:text/javascript;base64,${btoa(directive)}`));
  assert(startsStrict(ran) && ran.endsWith(`);${directive}`), directive);
  const written = ofData(`data:,${encodeURIComponent(directive)}#part`);
  const [script, ...rest] = written.slice(6).split('#');
  assert(startsStrict(decodeURIComponent(script)), directive);
  assert(decodeURIComponent(script).endsWith(`);${directive}`), directive);
  assert.deepStrictEqual(rest, ['part']);
}
// What a browser cannot decode stays as it is, and fails there.
for (const url of ['data:;base64,d29ya', 'data:;base64,%u0064', 'data:;base64,\u00e9',
  'data:text/plain', 'data:#,x']) {
  assert.strictEqual(ofData(url), url);
}

// A banner is read once, whatever it consists of.
for (const banner of ['/'.repeat(80), '/'.repeat(100_000), '//\n'.repeat(100_000),
  '/* * */ '.repeat(100_000), ' '.repeat(100_000), '/*'.repeat(100_000)]) {
  const script = `${banner}\nself.onmessage = f;`;
  assert(!startsStrict(ofBlob(script)), banner.slice(0, 8));
}
// Nor if the page reads with a function that never comes to an end.
assert(ranBy(`RegExp.prototype.exec = RegExp.prototype.test = () => [];
  new Worker(URL.createObjectURL(new Blob(['/* x */ work()'])))`).endsWith('work()'));
// Nor if it says how arrays and objects are written as JSON.
const hasSeeds = (text) => text.includes('"seeds":[') && text.includes('"clock":"step"');
assert(hasSeeds(ranBy(`Object.prototype.toJSON = Array.prototype.toJSON = () => 'replaced';
  new Worker(URL.createObjectURL(new Blob(['work()'])))`)));

// Shared workers of one URL are one worker, until the URL is revoked; other workers never are.
{
  const realm = realmWithWorkers(new Map());
  const urlOf = (code) => vm.runInContext(`new ${code}.url`, realm);
  vm.runInContext('const blob = URL.createObjectURL(new Blob(["work()"]))', realm);
  for (const url of ['blob', '"data:,work()"', '"data:text/javascript;base64,d29yaygp"']) {
    const first = urlOf(`SharedWorker(${url})`);
    assert.notStrictEqual(first, vm.runInContext(url, realm));
    assert.strictEqual(urlOf(`SharedWorker(${url}, 'name')`), first);
    assert.notStrictEqual(urlOf(`Worker(${url})`), urlOf(`Worker(${url})`));
    assert.strictEqual(urlOf(`SharedWorker(${url})`), first);
  }
  assert.strictEqual(urlOf('SharedWorker(`${blob}#a`)'), `${urlOf('SharedWorker(blob)')}#a`);
  assert.strictEqual(urlOf('SharedWorker("/fetched.js#a")'), '/fetched.js#a');
  vm.runInContext('URL.revokeObjectURL(blob)', realm);
  assert.strictEqual(urlOf('SharedWorker(blob)'), vm.runInContext('blob', realm));
}

// Each module of a worker has the script in front; its clock and numbers go on.
const worker = realmIn();
const drawn = vm.runInContext('Math.random()', worker);
enter(worker);
assert.notStrictEqual(vm.runInContext('Math.random()', worker), drawn);
console.log('workers run this script and their own');
