// The page's clock. It starts at config.time. "step": it moves by 50 ms with every 50th task that
// reads it, and its lag behind real time is bounded, in whole units of that bound: a script that
// polls for five seconds waits for five seconds. The network decides the order of a page's scripts;
// with steps, most of them read the same time in any order. The speed of loading depends on machine
// and network, so the time until the document has loaded counts as nothing, unless it is very long.
// Reads in the second after that are the same in every load again. "steady" and "all": it runs with
// real time.

/** The steps that the clock shows; each task that reads it counts as 1 ms. */
const STEP_MS = 50;
/** Free readings per task; a script that waits in a task for the clock to move must see it move. */
const FREE_READINGS = 25;
const BEHIND_MAX_MS = 1000;
const BEHIND_MAX_LOADING_MS = 10_000;

const nativeNow = Date.now;
const performanceNow = realm.performance && realm.performance.now.bind(realm.performance);
const elapsed = performanceNow ?? nativeNow;
const afterTask = realm.queueMicrotask && realm.queueMicrotask.bind(realm);
const readyState = realm.Document &&
  getOwnPropertyDescriptor(realm.Document.prototype, 'readyState').get;
let elapsedAtStart;
let passed;
let readings = 0;
/** The start of counting, after loading; undefined while the document loads. */
let counted;

const wholeSteps = (ms) => ms - ms % STEP_MS;

const isLoading = () =>
  readyState !== undefined && apply(readyState, realm.document, []) !== 'complete';

function countFromLoad() {
  if (counted || isLoading()) return;
  passed = wholeSteps(Math.max(passed, 0));
  counted = { from: elapsed(), passed };
}

function startClock() {
  elapsedAtStart = config.clock === 'step' ? undefined : elapsed();
  passed = -1;
  counted = undefined;
}

/** The next reading, without regard to real time. */
function nextStep() {
  if (readings === 0 && afterTask) afterTask(() => { readings = 0; });
  readings += 1;
  return passed < 0 || !afterTask || readings === 1 || readings > FREE_READINGS
    ? passed + 1 : passed;
}

/** Milliseconds on the page's clock since this realm began. */
function sinceStart() {
  renew();
  // A frame may be entered long before it has a document; nobody reads the clock then.
  elapsedAtStart ??= elapsed();
  if (config.clock !== 'step') return elapsed() - elapsedAtStart;
  countFromLoad();
  const behindMax = counted ? BEHIND_MAX_MS : BEHIND_MAX_LOADING_MS;
  const start = counted ?? { from: elapsedAtStart, passed: 0 };
  const units = Math.floor((elapsed() - start.from) / behindMax);
  passed = Math.max(nextStep(), start.passed + units * behindMax);
  return wholeSteps(passed);
}

const now = () => config.time + Math.floor(sinceStart());
/** How far the browser's clock is ahead of the page's. */
const ahead = () => nativeNow() - config.time -
  (config.clock === 'step' ? Math.max(passed, 0) : elapsed() - elapsedAtStart);

function replaceDate() {
  startClock();
  if (isLoading()) realm.addEventListener('load', countFromLoad, true);
  const { toString } = dates;
  replaceMethod(Date, 'now', now);
  // Called on a proxy they would appear in the stacks of their errors.
  replaceMethod(Date, 'UTC', (native, self, values) => apply(native, Date, values));
  const internals = { natives, restart };
  replaceMethod(Date, 'parse', (native, self, values) =>
    (values[0] === config.token ? internals : apply(native, Date, values)));
  replaceConstructor('Date', {
    apply: (native) => apply(toString, new native(now()), []),
    construct: (native, target, values, newTarget) =>
      construct(native, values.length === 0 ? [now()] : zoned(values), newTarget),
  });
}

/** Formatters use the present if they get no date. */
function replaceIntl() {
  const formatter = realm.Intl && realm.Intl.DateTimeFormat.prototype;
  if (!formatter) return;
  const formats = new WeakMap();
  const orNow = (date) => (date === undefined ? now() : date);
  replaceAccessor(formatter, 'format', 'get', (native, self) => {
    const format = apply(native, self, []);
    let ours = formats.get(format);
    if (!ours) {
      ours = asMethod(format, (native, self, values) => native(orNow(values[0])));
      formats.set(format, ours);
    }
    return ours;
  });
  replaceMethod(formatter, 'formatToParts', (native, self, values) =>
    apply(native, self, [orNow(values[0])]));
}

function replaceTemporal() {
  if (!Temporal) return;
  const instant = () => Temporal.Instant.fromEpochMilliseconds(now());
  const zoned = (zone) => instant().toZonedDateTimeISO(zone ?? Temporal.Now.timeZoneId());
  // The native runs first, for all its checks.
  const replace = (name, ours) => replaceMethod(Temporal.Now, name, (native, self, values) => {
    apply(native, self, values);
    return ours(...values);
  });
  replace('instant', instant);
  replace('zonedDateTimeISO', zoned);
  replace('plainDateTimeISO', (zone) => zoned(zone).toPlainDateTime());
  replace('plainDateISO', (zone) => zoned(zone).toPlainDate());
  replace('plainTimeISO', (zone) => zoned(zone).toPlainTime());
}

/**
 * With config.clock "all", timeOrigin + now() is the page's time. now() stays native, as timestamps
 * of frames, events and entries are of the same clock.
 */
function replacePerformance() {
  if (config.clock !== 'all' || !performanceNow) return;
  replaceAccessor(realm.Performance.prototype, 'timeOrigin', 'get', () => {
    renew();
    return config.time - elapsedAtStart;
  });
}
