// The page's time zone, if it differs from the browser's: all results of Date and Intl in local
// time. A zone's offsets come from Intl, and are cached.

const SECOND_MS = 1000;  // zones change at whole seconds, not at whole minutes (St. John's: 00:01)
const DAY_MS = 86_400_000;  // no zone changes twice within two days: at least 4 days lie between
const CYCLE_MS = 146_097 * DAY_MS;  // 400 years, after which the calendar repeats itself
const TIME_MAX_MS = 8.64e15;
const DAYS_MAX = 1024;
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = [
  'Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec',
];

const dates = Date.prototype;
const parse = Date.parse;

// A realm's first formatter takes Chromium 13 ms: none is made before the page needs it.
const DateTimeFormat = realm.Intl && realm.Intl.DateTimeFormat;
const zoneFormat = (locale, timeZoneName) =>
  new DateTimeFormat(locale, { timeZone: config.zone, timeZoneName });
let offsetFormat;
let nameFormat;
const days = new realm.Map();

/** A time in a zone, or in the browser's own; nothing if the zone is unknown. */
function timeIn(zone) {
  try {
    const time = Temporal.Instant.fromEpochMilliseconds(0);
    return time.toZonedDateTimeISO(zone ?? Temporal.Now.timeZoneId());
  } catch {
    return undefined;
  }
}

/** The same by Intl: the canonical name of a zone, such as UTC for Etc/UTC. */
function zoneOf(timeZone) {
  try {
    return new DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** Whether the page's zone is known and not the browser's own, which can be unknown. */
function isOtherZone() {
  if (!config.zone || !DateTimeFormat) return false;
  if (!Temporal) {
    const zone = zoneOf(config.zone);
    return zone !== undefined && zone !== zoneOf();
  }
  const [page, own] = [timeIn(config.zone), timeIn()];
  return page !== undefined && !(own && page.equals(own));
}
const isZoned = isOtherZone();

const zoneName = (format, time) =>
  format.formatToParts(time).filter(({ type }) => type === 'timeZoneName')[0].value;

function askOffset(time) {
  offsetFormat ??= zoneFormat('en-US', 'longOffset');
  // "GMT", "GMT+05:30", and before there were standards "GMT-04:56:02".
  const [, sign, hours, minutes, seconds] =
    /([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(zoneName(offsetFormat, time)) ?? [0, '+', 0, 0, 0];
  const size = (hours * 60 + Number(minutes)) * 60 + Number(seconds ?? 0);
  return Number(`${sign}1`) * size * 1000;
}

/** The offsets at both ends of a day (of UTC), and when the second offset begins. */
function askDay(start) {
  let from = Math.max(start, -TIME_MAX_MS);
  let until = Math.min(start + DAY_MS, TIME_MAX_MS);
  const [before, after] = [askOffset(from), askOffset(until)];
  while (before !== after && until - from > SECOND_MS) {
    const middle = from + Math.floor((until - from) / 2 / SECOND_MS) * SECOND_MS;
    if (askOffset(middle) === before) from = middle;
    else until = middle;
  }
  return { before, after, change: until };
}

/** Milliseconds by which the zone is ahead of UTC at `time`. */
function offsetAt(time) {
  if (!(Math.abs(time) <= TIME_MAX_MS)) return NaN;
  const start = Math.floor(time / DAY_MS) * DAY_MS;
  let day = days.get(start);
  if (day === undefined) {
    day = askDay(start);
    if (days.size === DAYS_MAX) days.clear();
    days.set(start, day);
  }
  return time < day.change ? day.before : day.after;
}

/** A date whose UTC is local time; 400 years nearer if it exceeds the range of dates. */
function localOf(time) {
  const local = time + offsetAt(time);
  return new Date(Math.abs(local) > TIME_MAX_MS ? local - Math.sign(local) * CYCLE_MS : local);
}

/** By how many cycles `local`, which is localOf(time), is nearer: 1, 0 or -1. */
const cyclesOf = (local, time) =>
  (Math.abs(time - local.getTime()) > CYCLE_MS / 2 ? Math.sign(time) : 0);
const yearOf = (local, time) => local.getUTCFullYear() + 400 * cyclesOf(local, time);

/** The first of local times that occur twice; skipped ones use the offset before the change. */
function fromLocal(local) {
  const before = offsetAt(local - DAY_MS);
  const after = offsetAt(local + DAY_MS);
  const isAfter = offsetAt(local - before) !== before && offsetAt(local - after) === after;
  return local - (isAfter ? after : before);
}

/** Whether a date's text names its zone outside of comments, or has a form that is always UTC. */
function saysZone(whole) {
  const text = whole.replace(/\(.*?\)/g, ' ');
  return /^\s*[+-]?\d{4,6}(-\d\d){0,2}\s*$|Z\s*$|GMT|UTC?\b|[ECMP][SD]T\b/i.test(text) ||
    /\d:\d\d(:\d\d(\.\d+)?)?\s*[+-]\d\d?(:?\d\d)?\s*$/.test(text);
}

function parseZoned(text) {
  const time = parse(text);
  if (time !== time || saysZone(text)) return time;
  // Local times that the browser's zone skips are lost in `time`, so the text is parsed as UTC:
  // with ' UTC' at its end, or, for texts with a T, with 'Z'.
  const local = [' UTC', 'Z'].map((zone) => parse(text + zone)).find((each) => each === each);
  return local === undefined ? time : fromLocal(local);
}

/** The arguments of the Date constructor, without local time. */
function zoned(values) {
  if (!isZoned) return values;
  if (values.length > 1) return [fromLocal(apply(Date.UTC, Date, values))];
  let [value] = values;
  // A date is copied; other objects are converted to a primitive.
  if (typeof value === 'object' && value !== null) {
    try {
      return [apply(dates.getTime, value, [])];
    } catch {
      const method = value[Symbol.toPrimitive];
      value = method ? apply(method, value, ['default']) : value.valueOf();
      if (typeof value === 'object') value = `${value}`;
    }
  }
  return [typeof value === 'string' ? parseZoned(value) : value];
}

/** Options of a formatter, with our zone unless they name one. */
function inZone(options) {
  if (options === null) return options;
  return new realm.Proxy(options === undefined ? {} : Object(options), {
    get: (asked, key) => {
      const value = asked[key];
      return key === 'timeZone' && value === undefined ? config.zone : value;
    },
  });
}

const two = (number) => `${number}`.padStart(2, '0');

function dateText(local, time) {
  const year = yearOf(local, time);
  const digits = `${Math.abs(year)}`.padStart(year < 0 ? 6 : 4, '0');
  return `${WEEKDAYS[local.getUTCDay()]} ${MONTHS[local.getUTCMonth()]} ` +
    `${two(local.getUTCDate())} ${year < 0 ? '-' : ''}${digits}`;
}

function timeText(local, time) {
  nameFormat ??= zoneFormat(undefined, 'long');
  // Intl knows hardly any names before 1970. Chromium uses that of the same day at present.
  const named = time < 0 ? new Date(time).setUTCFullYear(2024) : time;
  const minutes = Math.trunc(offsetAt(time) / 60_000);
  const [hour, minute] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `${two(local.getUTCHours())}:${two(local.getUTCMinutes())}:` +
    `${two(local.getUTCSeconds())} GMT${minutes < 0 ? '-' : '+'}${two(hour)}${two(minute)} ` +
    `(${zoneName(nameFormat, named)})`;
}

function replaceZone() {
  const { getTime, setTime } = dates;
  const timeOf = (date) => apply(getTime, date, []);
  const readLocal = (name, read) => replaceMethod(dates, name, (native, self) => {
    const time = timeOf(self);
    return read(localOf(time), time);
  });
  for (const part of ['Day', 'Date', 'Hours', 'Minutes', 'Month', 'Seconds']) {
    readLocal(`get${part}`, (local) => local[`getUTC${part}`]());
  }
  readLocal('getFullYear', yearOf);
  readLocal('getYear', (local, time) => yearOf(local, time) - 1900);
  replaceMethod(dates, 'getTimezoneOffset', (native, self) =>
    -Math.trunc(offsetAt(timeOf(self)) / 60_000) || 0);
  for (const part of ['Date', 'FullYear', 'Hours', 'Minutes', 'Month', 'Seconds']) {
    const change = dates[`setUTC${part}`];
    replaceMethod(dates, `set${part}`, (native, self, values) => {
      const time = timeOf(self);
      const local = localOf(time);
      const nearer = part === 'FullYear' ? 0 : cyclesOf(local, time) * CYCLE_MS;
      apply(change, local, values);
      return apply(setTime, self, [fromLocal(timeOf(local) + nearer)]);
    });
  }
  const { setFullYear } = dates;  // ours
  replaceMethod(dates, 'setYear', (native, self, values) => {
    timeOf(self);  // throws if it is no date, before the year is converted
    const year = +values[0];
    const short = Math.trunc(year);
    if (year !== year) return apply(setTime, self, [NaN]);
    return apply(setFullYear, self, [short >= 0 && short <= 99 ? 1900 + short : year]);
  });
  const write = (name, text) => replaceMethod(dates, name, (native, self) => {
    const time = timeOf(self);
    return time === time ? text(localOf(time), time) : 'Invalid Date';
  });
  write('toString', (local, time) => `${dateText(local, time)} ${timeText(local, time)}`);
  write('toDateString', dateText);
  write('toTimeString', timeText);
  const formatInZone = (holder, name) => replaceMethod(holder, name, (native, self, values) =>
    apply(native, self, [values[0], inZone(values[1])]));
  for (const name of ['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString']) {
    formatInZone(dates, name);
  }
  replaceMethod(Date, 'parse', (native, self, values) => parseZoned(`${values[0]}`));
  replaceConstructor('DateTimeFormat', {
    apply: (native, target, self, [locales, options]) => native(locales, inZone(options)),
    construct: (native, target, [locales, options], newTarget) =>
      construct(native, [locales, inZone(options)], newTarget),
  }, realm.Intl);
  if (!Temporal) return;
  replaceMethod(Temporal.Now, 'timeZoneId', () => config.zone);
  formatInZone(Temporal.Instant.prototype, 'toLocaleString');
}
