// Dates in responses. A replay moves them by config.shift seconds, so that they are as fresh for
// the browser's cache as they were; scripts read them as recorded, on the page's clock.

const DATE_SHIFT_MS = Number(config.shift) * 1000;
const DATE_FIELDS = /^(?:date|expires|last-modified)$/i;
const DATE_LINES = /^(date|expires|last-modified): (.*)$/gim;
const DATE = /^\w{3}, \d\d([ -])\w{3}[ -]\d{4} \d\d:\d\d:\d\d GMT$/;
const { toUTCString } = Date.prototype;

/** The value of a field before the replay moved it. */
function asRecorded(name, value) {
  const [text, between] = (DATE_SHIFT_MS && DATE_FIELDS.test(name) && DATE.exec(value)) || [];
  if (!text) return value;
  const date = apply(toUTCString, new Date(parse(text) - DATE_SHIFT_MS), []);
  return between === '-' ? date.replace(/(\d\d) (\w{3}) /, '$1-$2-') : date;
}

/** Affects fields of responses from the network; those made by the page are not changed. */
function replaceResponseHeaders() {
  const { Headers, Response } = realm;
  if (!Headers || !Response) return;
  const typeOf = getOwnPropertyDescriptor(Response.prototype, 'type').get;
  const received = new realm.WeakSet();
  replaceAccessor(Response.prototype, 'headers', 'get', (native) => function () {
    const headers = apply(native, this, []);
    const type = apply(typeOf, this, []);
    if (type === 'basic' || type === 'cors') received.add(headers);
    return headers;
  });
  const { prototype } = Headers;
  replaceMethod(prototype, 'get', (native) => function (...values) {
    const value = apply(native, this, values);
    return value !== null && received.has(this) ? asRecorded(`${values[0]}`, value) : value;
  });
  replaceMethod(prototype, 'forEach', (native) => function (...values) {
    const [callback, self] = values;
    if (typeof callback !== 'function' || !received.has(this)) return apply(native, this, values);
    const each = (value, name, of) => apply(callback, self, [asRecorded(name, value), name, of]);
    return apply(native, this, [each]);
  });

  const { keys } = prototype;
  const iterators = new WeakMap();
  const noteIterator = (named) => (native) => function (...values) {
    const iterator = apply(native, this, values);
    if (received.has(this)) iterators.set(iterator, named ? null : apply(keys, this, []));
    return iterator;
  };
  replaceMethod(prototype, 'values', noteIterator(false));
  replaceMethod(prototype, 'entries', noteIterator(true));
  const { entries } = prototype;
  const descriptor = getOwnPropertyDescriptor(prototype, Symbol.iterator);
  defineProperty(prototype, Symbol.iterator, { ...descriptor, value: entries });
  replaceMethod(getPrototypeOf(apply(keys, new Headers(), [])), 'next', (next) => function () {
    const step = apply(next, this, []);
    const names = iterators.get(this);
    if (names === undefined || step.done) return step;
    if (names === null) {
      step.value[1] = asRecorded(...step.value);
    } else {
      step.value = asRecorded(apply(next, names, []).value, step.value);
    }
    return step;
  });
}

function replaceHeaders() {
  replaceResponseHeaders();
  const prototype = realm.XMLHttpRequest && realm.XMLHttpRequest.prototype;
  replaceMethod(prototype, 'getResponseHeader', (native) => function (...values) {
    const value = apply(native, this, values);
    return value === null ? value : asRecorded(`${values[0]}`, value);
  });
  replaceMethod(prototype, 'getAllResponseHeaders', (native) => function () {
    return apply(native, this, []).replace(DATE_LINES, (line, name, value) =>
      `${name}: ${asRecorded(name, value)}`);
  });
}
