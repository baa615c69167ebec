// The page's clock. It starts at config.time. "step": each reading is one millisecond after the one
// before, and never more than one second behind the time that has really passed since the first,
// in whole seconds: who polls for five seconds waits for five seconds, and what is read within the
// first second is the same in every load. "steady" and "all": it runs with real time.

const STEP_MS = 1;
const BEHIND_MAX_MS = 1000;

const nativeNow = Date.now;
const performanceNow = realm.performance && realm.performance.now.bind(realm.performance);
const elapsed = performanceNow ?? nativeNow;
let elapsedAtStart;
let passed;

function startClock() {
  elapsedAtStart = config.clock === 'step' ? undefined : elapsed();
  passed = -STEP_MS;
}

/** Milliseconds on the page's clock since this realm began. */
function sinceStart() {
  // A frame may be entered long before there is a document in it: then nobody looks at the clock.
  elapsedAtStart ??= elapsed();
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
  startClock();
  const { toString } = dates;
  replaceMethod(Date, 'now', () => now);
  // Called on a proxy they would say so in the stacks of their errors.
  for (const name of ['parse', 'UTC']) {
    replaceMethod(Date, name, (native) => (...values) => apply(native, Date, values));
  }
  replaceConstructor('Date', {
    apply: (native) => apply(toString, new native(now()), []),
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
  // Chromium makes it when it is first asked for, in the realm of the function that asks.
  const Temporal = Reflect.get(realm, 'Temporal');
  if (!Temporal) return;
  const instant = () => Temporal.Instant.fromEpochMilliseconds(now());
  const zoned = (zone) => instant().toZonedDateTimeISO(zone ?? Temporal.Now.timeZoneId());
  // The native is asked first, for all that it checks.
  const replace = (name, ours) => replaceMethod(Temporal.Now, name, (native) => function (...values) {
    apply(native, this, values);
    return ours(...values);
  });
  replace('instant', instant);
  replace('zonedDateTimeISO', zoned);
  replace('plainDateTimeISO', (zone) => zoned(zone).toPlainDateTime());
  replace('plainDateISO', (zone) => zoned(zone).toPlainDate());
  replace('plainTimeISO', (zone) => zoned(zone).toPlainTime());
}

/** With config.clock "all" what measures is the page's clock, too. */
function replacePerformance() {
  if (config.clock !== 'all' || !performanceNow) return;
  const { prototype } = realm.Performance;
  replaceAccessor(prototype, 'timeOrigin', 'get', () => () => config.time);
  replaceMethod(prototype, 'now', () => sinceStart);
}
