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
  replaceAccessor(Response.prototype, 'headers', 'get', (native, self) => {
    const headers = apply(native, self, []);
    const type = apply(typeOf, self, []);
    if (type === 'basic' || type === 'cors') received.add(headers);
    return headers;
  });
  const { prototype } = Headers;
  replaceMethod(prototype, 'get', (native, self, values) => {
    const value = apply(native, self, values);
    return value !== null && received.has(self) ? asRecorded(`${values[0]}`, value) : value;
  });
  replaceMethod(prototype, 'forEach', (native, self, values) => {
    const [callback, its] = values;
    if (typeof callback !== 'function' || !received.has(self)) return apply(native, self, values);
    const each = (value, name, of) => apply(callback, its, [asRecorded(name, value), name, of]);
    return apply(native, self, [each]);
  });

  const { keys } = prototype;
  const iterators = new WeakMap();
  const noteIterator = (named) => (native, self, values) => {
    const iterator = apply(native, self, values);
    if (received.has(self)) iterators.set(iterator, named ? null : apply(keys, self, []));
    return iterator;
  };
  replaceMethod(prototype, 'values', noteIterator(false));
  replaceMethod(prototype, 'entries', noteIterator(true));
  const { entries } = prototype;
  defineProperty(prototype, Symbol.iterator, { value: entries });
  replaceMethod(getPrototypeOf(apply(keys, new Headers(), [])), 'next', (next, self) => {
    const step = apply(next, self, []);
    const names = iterators.get(self);
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
  replaceMethod(prototype, 'getResponseHeader', (native, self, values) => {
    const value = apply(native, self, values);
    return value === null ? value : asRecorded(`${values[0]}`, value);
  });
  replaceMethod(prototype, 'getAllResponseHeaders', (native, self) =>
    apply(native, self, []).replace(DATE_LINES, (line, name, value) =>
      `${name}: ${asRecorded(name, value)}`));
}
