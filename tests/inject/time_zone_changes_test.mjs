// At and around every change of every zone's clock from 1900 to 2040, a page that the injected script
// moves to that zone reads and makes the same dates as one in a browser of the zone.
//
// node time_zone_changes_test.mjs [SCRIPT_TEMPLATE.cc [ZONE...]]    of the release build; all zones
import assert from 'node:assert';
import { observe } from './zone_realm.mjs';

const ELSEWHERE = ['America/New_York', 'Asia/Tokyo'];  // the first leaves hours out itself

/** Changes of the clock where this runs, in seconds: [when, offset before, offset after]. */
function changes() {
  const DAYS = 3 * 86400;  // no zone changes twice in 3.9 days
  const offset = (time) => {
    const date = new Date(time * 1000);
    return date.getSeconds() / 60 - date.getTimezoneOffset();  // `time` is at a whole minute
  };
  const exact = (time) => {
    const date = new Date(time * 1000);
    return (Date.UTC(date.getFullYear(), date.getMonth(), date.getDate(), date.getHours(),
      date.getMinutes(), date.getSeconds()) - time * 1000) / 1000;
  };
  const found = [];
  for (let from = Date.UTC(1900) / 1000, last = offset(from); from < Date.UTC(2040) / 1000;
    from += DAYS) {
    const next = offset(from + DAYS);
    if (next !== last) {
      let [low, high] = [from, from + DAYS];
      const before = exact(low);
      while (high - low > 1) {
        const middle = Math.floor((low + high) / 2);
        if (exact(middle) === before) low = middle;
        else high = middle;
      }
      found.push([high, before, exact(high)]);
    }
    last = next;
  }
  return found;
}

/** What dates at and around `CHANGES` say, and what times local ones are. */
function observations() {
  const STEPS = [-3600, -60, -1, 0, 1, 60, 3600];
  const two = (number) => `${number}`.padStart(2, '0');
  return CHANGES.map(([when, before, after]) => {
    const out = [];
    for (const step of STEPS) {
      const date = new Date((when + step) * 1000);
      out.push(date.getFullYear(), date.getDate(), date.getDay(), date.getHours(),
        date.getMinutes(), date.getSeconds(), date.getTimezoneOffset());
      for (const offset of [before, after]) {
        const local = new Date((when + step + offset) * 1000);
        const [year, month, day, hours, minutes, seconds] = [local.getUTCFullYear(),
          local.getUTCMonth(), local.getUTCDate(), local.getUTCHours(), local.getUTCMinutes(),
          local.getUTCSeconds()];
        const time = `${two(hours)}:${two(minutes)}:${two(seconds)}`;
        out.push(new Date(year, month, day, hours, minutes, seconds).getTime(),
          Date.parse(`${year}-${two(month + 1)}-${two(day)}T${time}`),
          Date.parse(`${month + 1}/${day}/${year} ${time}`), date.setHours(hours, minutes, seconds));
      }
    }
    return out;
  });
}

const zones = process.argv.length > 3 ? process.argv.slice(3) : Intl.supportedValuesOf('timeZone');
let count = 0;
for (const zone of zones) {
  process.env.TZ = zone;
  const given = { CHANGES: observe(undefined, changes) };
  const expected = observe(undefined, observations, given);
  process.env.TZ = ELSEWHERE[zone === ELSEWHERE[0] ? 1 : 0];
  const actual = observe(zone, observations, given);
  for (const [i, [when, before, after]] of given.CHANGES.entries()) {
    assert.deepStrictEqual(actual[i], expected[i],
      `${zone}, ${new Date(when * 1000).toISOString()}, from ${before} s to ${after} s`);
  }
  count += given.CHANGES.length;
}
assert(process.argv.length > 3 || count > 10_000, `${count} changes`);
console.log(`${count} changes of ${zones.length} zones`);
