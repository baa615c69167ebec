// What the workers of a page run, if their scripts come from blob: and data: URLs.
//
// node workers_test.mjs SCRIPT_TEMPLATE.cc
import assert from 'node:assert';
import vm from 'node:vm';
import { realmIn } from './zone_realm.mjs';

/** The whole script of the worker that `code` makes. */
function ranBy(code) {
  const urls = new Map();
  const textOf = (part) => (typeof part === 'string' ? part : part.parts.map(textOf).join(''));
  const realm = realmIn(undefined, {
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
    },
    Worker: class Worker {
      constructor(url) { this.url = url; }
    },
  });
  const { url } = vm.runInContext(code, realm);
  return urls.has(url) ? textOf(urls.get(url)) : url;
}

const ofBlob = (script) =>
  ranBy(`new Worker(URL.createObjectURL(new Blob([${JSON.stringify(script)}])))`);
const startsStrict = (script) => script.startsWith('"use strict";(function');

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

// A banner is read once, whatever it consists of.
for (const banner of ['/'.repeat(80), '/'.repeat(100_000), '//\n'.repeat(100_000),
  '/* * */ '.repeat(100_000), ' '.repeat(100_000), '/*'.repeat(100_000)]) {
  const script = `${banner}\nself.onmessage = f;`;
  assert(!startsStrict(ofBlob(script)), banner.slice(0, 8));
}
console.log('workers run this script and their own');
