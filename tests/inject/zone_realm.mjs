// A realm in which the injected script has run, and what it reads of dates.
import assert from 'node:assert';
import fs from 'node:fs';
import vm from 'node:vm';

const BUILT = new URL('../../build/release/inject/script_template.cc', import.meta.url);
const source = fs.readFileSync(process.argv[2] ?? BUILT, 'utf8');
const template = source.slice(source.indexOf('R"js(') + 5, source.lastIndexOf(')js"'));
const at = template.lastIndexOf('CONFIG');
assert(at > 0, 'the script takes settings');

/** A new global object with `given` in it, and the page zone `zone`, or the process's own: TZ. */
export function realmIn(zone, given = {}) {
  const realm = vm.createContext({ ...given });
  enter(realm, zone);
  return realm;
}

/** Runs the script in a realm, as if it came in front of another script there. */
export function enter(realm, zone) {
  const config = { time: 1.7e12, seeds: [1, 2, 3, 4], clock: 'step', token: 'token', zone };
  vm.runInContext(template.slice(0, at) + JSON.stringify(config) + template.slice(at + 6), realm);
}

/** What `observations` returns in a realm, as JSON can hold it; `given` are globals for it. */
export function observe(zone, observations, given) {
  const realm = Object.assign(realmIn(zone), given);
  return JSON.parse(vm.runInContext(`JSON.stringify((${observations})())`, realm));
}
