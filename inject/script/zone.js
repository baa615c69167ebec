// The page's time zone, where the browser's own is another: all that Date and Intl say of local
// time. A zone's offset is asked of Intl, and kept.

const QUARTER_MS = 900_000;  // no zone changes but at the start of one
const DAY_MS = 86_400_000;
const TIME_MAX_MS = 8.64e15;
const OFFSETS_MAX = 4096;
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = [
  'Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec',
];

const dates = Date.prototype;
const parse = Date.parse;

/** The one name of a zone, which may have several, such as Etc/UTC and UTC; nothing: no zone. */
function zoneOf(timeZone) {
  try {
    return new realm.Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}
const pageZone = config.zone && realm.Intl ? zoneOf(config.zone) : undefined;
const isZoned = pageZone !== undefined && pageZone !== zoneOf();

const offsetFormat = isZoned &&
  new realm.Intl.DateTimeFormat('en-US', { timeZone: config.zone, timeZoneName: 'longOffset' });
const nameFormat = isZoned &&
  new realm.Intl.DateTimeFormat(undefined, { timeZone: config.zone, timeZoneName: 'long' });
const offsets = new realm.Map();

const zoneName = (format, time) =>
  format.formatToParts(time).filter(({ type }) => type === 'timeZoneName')[0].value;

/** Milliseconds by which the zone is ahead of UTC at `time`. */
function offsetAt(time) {
  if (!(Math.abs(time) <= TIME_MAX_MS)) return NaN;
  const quarter = Math.floor(time / QUARTER_MS) * QUARTER_MS;
  let offset = offsets.get(quarter);
  if (offset === undefined) {
    // "GMT", "GMT+05:30", and before there were standards "GMT-04:56:02".
    const text = zoneName(offsetFormat, Math.max(quarter, -TIME_MAX_MS));
    const [, sign, hours, minutes, seconds] =
      /([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(text) ?? [0, '+', 0, 0, 0];
    const size = (hours * 60 + Number(minutes)) * 60 + Number(seconds ?? 0);
    offset = Number(`${sign}1`) * size * 1000;
    if (offsets.size === OFFSETS_MAX) offsets.clear();
    offsets.set(quarter, offset);
  }
  return offset;
}

const localOf = (time) => new Date(time + offsetAt(time));

/** Of what clocks show twice, the first; what they leave out is told by the clock before that. */
function fromLocal(local) {
  const before = offsetAt(local - DAY_MS);
  const after = offsetAt(local + DAY_MS);
  const isAfter = offsetAt(local - before) !== before && offsetAt(local - after) === after;
  return local - (isAfter ? after : before);
}

/** Whether a date's text says its zone, or is one of those that are UTC without saying so. */
const saysZone = (text) =>
  /^\s*[+-]?\d{4,6}(-\d\d){0,2}\s*$|Z\s*$|GMT|UTC?\b|[ECMP][SD]T\b/i.test(text) ||
  /\d\d?:?\d\d(:\d\d(\.\d+)?)?\s*[+-]\d\d?(:?\d\d)?\s*(\(.*\))?\s*$/.test(text);

const nativeParts = isZoned && ['FullYear', 'Month', 'Date', 'Hours', 'Minutes', 'Seconds',
  'Milliseconds'].map((part) => dates[`get${part}`]);

function parseZoned(text) {
  const time = parse(text);
  if (time !== time || saysZone(text)) return time;
  const date = new Date(time);
  const local = new Date(0);
  const [year, month, day, ...rest] = nativeParts.map((get) => apply(get, date, []));
  local.setUTCFullYear(year, month, day);
  local.setUTCHours(...rest);
  return fromLocal(local.getTime());
}

/** The arguments of the Date constructor, without local time in them. */
function zoned(values) {
  if (!isZoned) return values;
  if (values.length > 1) return [fromLocal(apply(Date.UTC, Date, values))];
  let [value] = values;
  // A date is copied; other objects are asked for what they are.
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

function dateText(local) {
  const year = local.getUTCFullYear();
  const digits = `${Math.abs(year)}`.padStart(year < 0 ? 6 : 4, '0');
  return `${WEEKDAYS[local.getUTCDay()]} ${MONTHS[local.getUTCMonth()]} ` +
    `${two(local.getUTCDate())} ${year < 0 ? '-' : ''}${digits}`;
}

function timeText(local, time) {
  const minutes = Math.trunc(offsetAt(time) / 60_000);
  const [hour, minute] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `${two(local.getUTCHours())}:${two(local.getUTCMinutes())}:` +
    `${two(local.getUTCSeconds())} GMT${minutes < 0 ? '-' : '+'}${two(hour)}${two(minute)} ` +
    `(${zoneName(nameFormat, time)})`;
}

function replaceZone() {
  if (!isZoned) return;
  const { getTime, setTime } = dates;
  const timeOf = (date) => apply(getTime, date, []);
  const readLocal = (name, read) => replaceMethod(dates, name, () => function () {
    return read(localOf(timeOf(this)));
  });
  for (const part of ['Day', 'Date', 'FullYear', 'Hours', 'Minutes', 'Month', 'Seconds']) {
    readLocal(`get${part}`, (local) => local[`getUTC${part}`]());
  }
  readLocal('getYear', (local) => local.getUTCFullYear() - 1900);
  replaceMethod(dates, 'getTimezoneOffset', () => function () {
    return -Math.trunc(offsetAt(timeOf(this)) / 60_000) || 0;
  });
  for (const part of ['Date', 'FullYear', 'Hours', 'Minutes', 'Month', 'Seconds']) {
    const change = dates[`setUTC${part}`];
    replaceMethod(dates, `set${part}`, () => function (...values) {
      const local = localOf(timeOf(this));
      apply(change, local, values);
      return apply(setTime, this, [fromLocal(timeOf(local))]);
    });
  }
  const write = (name, text) => replaceMethod(dates, name, () => function () {
    const time = timeOf(this);
    return time === time ? text(localOf(time), time) : 'Invalid Date';
  });
  write('toString', (local, time) => `${dateText(local)} ${timeText(local, time)}`);
  write('toDateString', dateText);
  write('toTimeString', timeText);
  for (const name of ['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString']) {
    replaceMethod(dates, name, (native) => function (locales, options) {
      return apply(native, this, [locales, inZone(options)]);
    });
  }
  replaceMethod(Date, 'parse', () => (text) => parseZoned(`${text}`));
  replaceConstructor('DateTimeFormat', {
    apply: (native, target, self, [locales, options]) => native(locales, inZone(options)),
    construct: (native, target, [locales, options], newTarget) =>
      construct(native, [locales, inZone(options)], newTarget),
  }, realm.Intl);
  const clock = realm.Temporal && realm.Temporal.Now;
  replaceMethod(clock, 'timeZoneId', () => () => config.zone);
}
