// What a page is told of local time where the injected script moves it to another zone is what a
// browser in that zone says: thousands of random dates and local times, over two centuries.
//
// node time_zone_test.mjs SCRIPT_TEMPLATE.cc [SEED]
import assert from 'node:assert';
import fs from 'node:fs';
import vm from 'node:vm';

const ZONES = ['America/New_York', 'Europe/Berlin', 'Asia/Kolkata', 'Australia/Lord_Howe',
  'America/St_Johns', 'Africa/Casablanca', 'UTC'];
const ELSEWHERE = 'Asia/Tokyo';
const DATES = 1000;
const seed = Number(process.argv[3] ?? (Date.now() % 1e9));
console.log(`seed ${seed}`);

const source = fs.readFileSync(process.argv[2], 'utf8');
const template = source.slice(source.indexOf('R"js(') + 5, source.lastIndexOf(')js"'));
const at = template.lastIndexOf('CONFIG');
assert(at > 0, 'the script takes settings');

/** Runs in a realm of its own; `DATES` and `seed` are given. */
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
    date.toTimeString(), date.toLocaleString(), date.toLocaleDateString('de'),
    date.toLocaleTimeString('en', { hour: 'numeric' }), date.getTimezoneOffset(), date.getYear(),
    date.getFullYear(), date.getMonth(), date.getDate(), date.getDay(), date.getHours(),
    date.getMinutes(), date.getSeconds(), full.format(date));
  for (let i = 0; i < DATES; i += 1) {
    const date = new Date(Math.floor((random() - .3) * 4e12));
    say(date);
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
  }
  out.push(new Date(NaN).toString(), new Date(undefined).getTime(), new Date(null).getTime(),
    new Date(99, 1, 1).getTime(), new Date(new Date(5)).getTime(), new Date(-1, 0).getTime(),
    new Date({ valueOf: () => 7 }).getTime(), new Date(8.64e15).getTime(), new Date(8.65e15) + '',
    Intl.DateTimeFormat().resolvedOptions().timeZone, Date.length, Intl.DateTimeFormat.name,
    new Intl.DateTimeFormat('en', { timeZone: 'Asia/Seoul', timeStyle: 'long' }).format(0));
  return JSON.stringify(out);
}

function observe(zone) {
  const config = { time: 1.7e12, seeds: [1, 2, 3, 4], clock: 'step', token: 'token', zone };
  const realm = vm.createContext({});
  vm.runInContext(template.slice(0, at) + JSON.stringify(config) + template.slice(at + 6), realm);
  return JSON.parse(vm.runInContext(`const DATES = ${DATES}, seed = ${seed}; (${observations})()`,
    realm));
}

// The name in brackets is that of the time's own year here; browsers take the present's.
const nameless = (value) => (typeof value === 'string' ? value.replace(/ \(.*\)/, '') : value);

for (const zone of ZONES) {
  process.env.TZ = zone;
  const expected = observe(undefined).map(nameless);
  process.env.TZ = ELSEWHERE;
  const unmoved = observe(undefined).map(nameless);
  assert.notDeepStrictEqual(unmoved, expected, `${zone} is not ${ELSEWHERE}`);
  assert.deepStrictEqual(observe(zone).map(nameless), expected, zone);
}
