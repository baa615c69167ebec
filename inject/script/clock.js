// The page's clock. It starts at config.time. "step": each reading is one millisecond after the one
// before, and never more than one second behind the time that has really passed, in whole seconds:
// who polls for five seconds waits for five seconds, and what is read within the first second is
// the same in every load. "steady" and "all": it runs with real time.

const STEP_MS = 1;
const BEHIND_MAX_MS = 1000;

const nativeNow = Date.now;
const performanceNow = realm.performance && realm.performance.now.bind(realm.performance);
const elapsed = performanceNow ?? nativeNow;
const elapsedAtStart = elapsed();
let passed = -STEP_MS;

/** Milliseconds on the page's clock since this realm began. */
function sinceStart() {
  const real = elapsed() - elapsedAtStart;
  if (config.clock !== 'step') return real;
  const least = Math.floor(real / BEHIND_MAX_MS) * BEHIND_MAX_MS;
  passed = Math.max(passed + STEP_MS, least);
  return passed;
}

const now = () => config.time + Math.floor(sinceStart());
/** How far the browser's clock is ahead of the page's. */
const ahead = () => nativeNow() - (config.time + Math.max(passed, 0));

function replaceDate() {
  replaceMethod(Date, 'now', () => now);
  replaceConstructor('Date', {
    apply: (native) => new native(now()).toString(),
    construct: (native, target, values, newTarget) =>
      construct(native, values.length === 0 ? [now()] : zoned(values), newTarget),
  });
}

/** Formatters take the present where they are given no date. */
function replaceIntl() {
  const formatter = realm.Intl && realm.Intl.DateTimeFormat.prototype;
  if (!formatter) return;
  const formats = new WeakMap();
  replaceAccessor(formatter, 'format', 'get', (native) => function () {
    const format = apply(native, this, []);
    let ours = formats.get(format);
    if (!ours) {
      ours = asMethod((date) => format(date === undefined ? now() : date));
      formats.set(format, disguise(ours, format));
    }
    return ours;
  });
  replaceMethod(formatter, 'formatToParts', (native) => function (date) {
    return apply(native, this, [date === undefined ? now() : date]);
  });
}

function replaceTemporal() {
  const Temporal = realm.Temporal;
  if (!Temporal) return;
  const instant = () => Temporal.Instant.fromEpochMilliseconds(now());
  const zoned = (zone) => instant().toZonedDateTimeISO(zone ?? Temporal.Now.timeZoneId());
  replaceMethod(Temporal.Now, 'instant', () => instant);
  replaceMethod(Temporal.Now, 'zonedDateTimeISO', () => zoned);
  replaceMethod(Temporal.Now, 'plainDateTimeISO', () => (zone) => zoned(zone).toPlainDateTime());
  replaceMethod(Temporal.Now, 'plainDateISO', () => (zone) => zoned(zone).toPlainDate());
  replaceMethod(Temporal.Now, 'plainTimeISO', () => (zone) => zoned(zone).toPlainTime());
}

/** With config.clock "all" what measures is the page's clock, too. */
function replacePerformance() {
  if (config.clock !== 'all' || !performanceNow) return;
  const { prototype } = realm.Performance;
  replaceAccessor(prototype, 'timeOrigin', 'get', () => () => config.time);
  replaceMethod(prototype, 'now', () => sinceStart);
}
