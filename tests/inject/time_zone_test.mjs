// What a page is told of local time where the injected script moves it to another zone is what a
// browser in that zone says: hundreds of random dates and local times, over two centuries.
//
// node time_zone_test.mjs SCRIPT_TEMPLATE.cc
import assert from 'node:assert';
import { testSeed } from '../test_seed.mjs';
import { observe, realmIn } from './zone_realm.mjs';

const ZONES = ['America/New_York', 'Europe/Berlin', 'Asia/Kolkata', 'Australia/Lord_Howe',
  'America/St_Johns', 'Africa/Casablanca', 'UTC'];
const ELSEWHERE = 'Asia/Tokyo';
const GIVEN = { DATES: 200, seed: testSeed };

/** Runs in a realm of its own; `DATES` and `seed` are given to it. */
function observations() {
  let state = seed;
  const random = () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
  const below = (limit) => Math.floor(random() * limit);
  const out = [];
  const full = new Intl.DateTimeFormat('en', { timeStyle: 'full', dateStyle: 'full' });
  const say = (date) => out.push(date.getTime(), date.toString(), date.toDateString(),
    date.toTimeString(), date.getTimezoneOffset(), date.getYear(), date.getFullYear(),
    date.getMonth(), date.getDate(), date.getDay(), date.getHours(), date.getMinutes(),
    date.getSeconds());
  // These are slow.
  const sayInWords = (date) => out.push(date.toLocaleString(), date.toLocaleDateString('de'),
    date.toLocaleTimeString('en', { hour: 'numeric' }), full.format(date));
  for (let i = 0; i < DATES; i += 1) {
    const date = new Date(Math.floor((random() - .3) * 4e12));
    say(date);
    sayInWords(date);
    const [year, month, day] = [1900 + below(200), below(12), 1 + below(28)];
    const [hour, minute] = [below(24), below(60)];
    const text = `${year}-03-${`${day}`.padStart(2, '0')}`;
    out.push(new Date(year, month, day, hour, minute), new Date(date.toString()).getTime(),
      Date.parse(text), Date.parse(`${text}T02:30:00`), Date.parse(`${text}T02:30:00Z`),
      Date.parse(`${text} 02:30 +0130`), Date.parse(`March ${day}, ${year} 02:${minute}`),
      Date.parse(`Sun, ${day} Mar ${year} 02:30:00 GMT`));
    date.setHours(hour, minute);
    say(date);
    date.setMonth(month);
    date.setDate(day);
    say(date);
    date.setFullYear(year);
    say(date);
    out.push(date.setYear(i % 2 ? `${year % 100}` : year + .5));
    say(date);
    if (i % 8 === 0) sayInWords(date);
  }
  // What dates can hold, which local time exceeds.
  for (const time of [8.64e15, -8.64e15]) {
    say(new Date(time));
    sayInWords(new Date(time));
    for (const set of ['Date', 'FullYear', 'Hours']) {
      const date = new Date(time);
      out.push(date[`set${set}`](set === 'FullYear' ? 2000 : 13), date.getTime());
    }
  }
  for (const year of [0, -.5, 99.9, 1970, null, undefined, NaN, Infinity, 1e9]) {
    out.push(new Date(5e11).setYear(year), new Date(NaN).setYear(year));
  }
  for (const set of [() => new Date().setYear(1n), () => Date.prototype.setYear.call({}, 1)]) {
    try {
      out.push(set());
    } catch (error) {
      out.push(error.name);
    }
  }
  out.push(Date.prototype.setYear.name, Date.prototype.setYear.length);
  out.push(new Date(NaN).toString(), new Date(undefined).getTime(), new Date(null).getTime(),
    new Date(99, 1, 1).getTime(), new Date(new Date(5)).getTime(), new Date(-1, 0).getTime(),
    new Date({ valueOf: () => 7 }).getTime(), new Date(8.64e15).getTime(), new Date(8.65e15) + '',
    Intl.DateTimeFormat().resolvedOptions().timeZone, Date.length, Intl.DateTimeFormat.name,
    new Intl.DateTimeFormat('en', { timeZone: 'Asia/Seoul', timeStyle: 'long' }).format(0));
  return out;
}

// The name in brackets is that of the time's own year here; browsers use the present's.
const nameless = (value) => (typeof value === 'string' ? value.replace(/ \(.*\)/, '') : value);

for (const zone of ZONES) {
  process.env.TZ = zone;
  const expected = observe(undefined, observations, GIVEN).map(nameless);
  process.env.TZ = ELSEWHERE;
  const unmoved = observe(undefined, observations, GIVEN).map(nameless);
  assert.notDeepStrictEqual(unmoved, expected, `${zone} is not ${ELSEWHERE}`);
  assert.deepStrictEqual(observe(zone, observations, GIVEN).map(nameless), expected, zone);
}

// Texts that seem to name a zone: by a month of one digit, or in a comment.
const elsewhereAs = (zone, observations) => {
  process.env.TZ = zone;
  const expected = observe(undefined, observations);
  process.env.TZ = ELSEWHERE;
  assert.deepStrictEqual(observe(zone, observations), expected);
};
elsewhereAs('America/New_York', () => ['2024-6', '2024-6 ', 'Jun 2024-6', '10:30 2024-6', '2024-06',
  '2024-06-01 10:30 (EST)', 'Jun 1 2024 10:30 (GMT+1)', '2024-06-01 10:30 +0100 (CET)',
  '2024-06-01 9:30-7', '2024-06-01T10:30:15.5-05:00', '2024-06-01 10:30 EST', '12/25/1995 -5',
].map((text) => Date.parse(text)));

// Before 1970 a zone has its present name.
elsewhereAs('Asia/Kolkata', () => [-2e12, -1e12, -8e11, -1, 0].map((time) => `${new Date(time)}`));

// The old setter of years, too: this date is still of 2019 in New York.
process.env.TZ = 'UTC';
const [year] = observe('America/New_York', () => {
  const date = new Date('2020-01-01T02:00Z');
  date.setYear(2021);
  return [date.getFullYear()];
});
assert.strictEqual(year, 2021);

// Temporal, which Node lacks: one that says which zone it was asked for.
class Instant {
  static fromEpochMilliseconds() {
    return new Instant();
  }

  toZonedDateTimeISO(zone) {
    return { zone, equals: (other) => other.zone === zone };
  }

  toLocaleString(locales, options) {
    return options?.timeZone ?? ELSEWHERE;
  }
}
realmIn('Europe/Berlin', { Temporal: { Instant, Now: { timeZoneId: () => ELSEWHERE } } });
assert.strictEqual(new Instant().toLocaleString(), 'Europe/Berlin');
assert.strictEqual(new Instant().toLocaleString('en', { timeZone: 'Asia/Seoul' }), 'Asia/Seoul');
