// The parts of this folder are one function, reprise(realm, config): it makes everything that a
// page can learn about time and chance in `realm` (a global object, maybe of another frame) depend
// on `config` only. It runs before all code of the page, and copies the natives that it needs from
// the realm here, since the page may change them later.
//
// config: {time, shift, seeds, clock, token, zone} from whoever embeds this, {source, columns} from
// boot.js, {inherited, natives, first} from frames.js. time: start of the page's clock, in
// milliseconds of the epoch; shift: seconds by which dates in responses are later than recorded, as
// text of fixed width; seeds: four 32-bit integers; clock: "step", "steady" or "all"; token: a name
// that the page cannot guess, also the sourceURL of documents' scripts; zone: the page's time zone,
// if one was requested; source(seeds): this script as text, for a worker; columns: its length in
// the worker's first line; inherited: by another realm, for a document without a script of its own;
// natives: those that the other realm knows; first: the seeds of fetched documents.

const { Array, Blob, Date, Function, Math, Number, Object, Reflect, String } = realm;
const { Int32Array, Uint8Array, WeakMap } = realm;
const { apply, construct, defineProperty, getOwnPropertyDescriptor } = Reflect;
const { getPrototypeOf, setPrototypeOf } = Reflect;
// Chromium creates it at the first access, in the realm of the function that accesses it.
const Temporal = Reflect.get(realm, 'Temporal');

/**
 * Whether a window is of another origin: its prototype is null (HTML, 7.2.3.1). Most other access
 * would throw, and an error costs a millisecond for its stack.
 */
const isForeign = (view) => getPrototypeOf(view) === null;

/**
 * This script's data in a realm; null if it has not run there, or the realm is of another origin.
 */
function internalsOf(other) {
  try {
    if (isForeign(other)) return null;
    // A question with our secret: nobody else parses it. The native answers NaN, without an error.
    const internals = other.Date.parse(config.token);
    return typeof internals === 'object' ? internals : null;
  } catch {
    return null;
  }
}

/** Maps our functions to their natives, in all realms that can see each other. */
const natives = config.natives ?? (realm.parent && internalsOf(realm.parent)?.natives) ??
  new WeakMap();
const findNative = WeakMap.prototype.get.bind(natives);
const noteNative = WeakMap.prototype.set.bind(natives);

const methodPrototype = getPrototypeOf(internalsOf);

/** Makes `ours` look like `native`. */
function disguise(ours, native) {
  const prototype = getPrototypeOf(native);
  if (prototype !== methodPrototype) setPrototypeOf(ours, prototype);
  defineProperty(ours, 'length', { value: native.length });
  defineProperty(ours, 'name', { value: native.name });
  noteNative(ours, findNative(native) ?? native);  // it may have been replaced before
  return ours;
}

// A literal line end would be in the script, and shift the lines of the page.
const LINE_END = String.fromCharCode(10);

/** In a worker this script comes before the worker's own, on its first line. */
function isInFront(line) {
  if (realm.document || !realm.location) return false;
  const column = line.split(`${realm.location.href}:1:`)[1];
  return column !== undefined && realm.parseInt(column) <= config.columns;
}

const withoutOurLines = (stack) => stack.split(LINE_END)
  .filter((line) => !line.includes(config.token) && !isInFront(line)).join(LINE_END);

/** Removes our lines from the stack of an error that passes through us. */
function withoutUs(error) {
  if (typeof error !== 'object' || error === null) return error;
  const own = getOwnPropertyDescriptor(error, 'stack');
  if (!own || !own.configurable) return error;
  const stack = own.get ? apply(own.get, error, []) : own.value;
  const rest = typeof stack === 'string' ? withoutOurLines(stack) : stack;
  if (rest === stack) return error;
  if (own.set) {
    apply(own.set, error, [rest]);
  } else {
    defineProperty(error, 'stack', { ...own, value: rest });
  }
  return error;
}

function withNativeError(act) {
  try {
    return act();
  } catch (error) {
    throw withoutUs(error);
  }
}

/**
 * A method that looks like `native` and calls body(native, this, arguments). Functions written as
 * methods have no prototype and are no constructors, like native methods.
 */
function asMethod(native, body) {
  const { method } = {
    method() {
      try {
        return body(native, this, arguments);
      } catch (error) {
        throw withoutUs(error);
      }
    },
  };
  return disguise(method, native);
}

/** Replaces a method by one that calls body(native, this, arguments). */
function replaceMethod(holder, name, body) {
  const native = holder && getOwnPropertyDescriptor(holder, name)?.value;
  if (typeof native !== 'function') return;
  defineProperty(holder, name, { value: asMethod(native, body) });
}

/** Replaces the getter or setter ("get", "set") of an accessor. */
function replaceAccessor(holder, name, kind, body) {
  const native = holder && getOwnPropertyDescriptor(holder, name)?.[kind];
  if (typeof native !== 'function') return;
  defineProperty(holder, name, { [kind]: asMethod(native, body) });
}

/** Replaces a constructor by a proxy with these traps, also as its prototype's constructor. */
function replaceConstructor(name, traps, holder = realm) {
  const native = getOwnPropertyDescriptor(holder, name)?.value;
  if (typeof native !== 'function') return;
  const guarded = {
    setPrototypeOf(target, prototype) {
      // A cycle through a proxy is not detected as one: throw the error that it would cause.
      for (let each = prototype; each; each = getPrototypeOf(each)) {
        if (each === ours) withNativeError(() => Object.setPrototypeOf(native, native));
      }
      return Reflect.setPrototypeOf(native, prototype);
    },
  };
  for (const name of Object.keys(traps)) {
    const trap = traps[name];
    guarded[name] = (target, values, last) => {
      try {
        // Their prototype is a proxy, and slow to find.
        return trap(native, target, values, last === ours ? native : last);
      } catch (error) {
        throw withoutUs(error);
      }
    };
  }
  const ours = new realm.Proxy(native, guarded);
  noteNative(ours, findNative(native) ?? native);
  defineProperty(native.prototype, 'constructor', { value: ours });
  defineProperty(holder, name, { value: ours });
}

/**
 * Whether the script has already run in this realm. A realm that was entered while its frame was
 * empty may have got a document with its own copy of this script: then the realm restarts. Each
 * module of a worker has a copy, too, and goes on.
 */
function isDone() {
  const internals = internalsOf(realm);
  if (internals && !config.inherited && realm.document) internals.restart(config.seeds);
  return internals !== null;
}

/** The realm's document when it last started. */
let shown = realm.document;

function restart(seeds) {
  shown = realm.document;
  startClock();
  sow(seeds);
}

/**
 * A fetched document restarts the realm also if it has no copy of this script: a browser that runs
 * the script before each document does not run it in a window that it keeps.
 */
function renew() {
  if (!config.inherited || shown === realm.document) return;
  shown = realm.document;
  if (/^https?:/.test(realm.location.href)) restart(config.first);
}

function replaceToString() {
  replaceMethod(Function.prototype, 'toString', (native, self) =>
    apply(native, findNative(self) ?? self, []));
}

/** Where stacks are read through a prototype (Firefox), our lines are hidden there. */
function replaceStack() {
  for (const name of ['Error', 'DOMException']) {
    replaceAccessor(realm[name] && realm[name].prototype, 'stack', 'get', (native, self) => {
      const stack = apply(native, self, []);
      return typeof stack === 'string' ? withoutOurLines(stack) : stack;
    });
  }
}
