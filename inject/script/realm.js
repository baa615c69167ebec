// The parts of this folder are one function, reprise(realm, config): it makes what a page can learn
// about time and chance in `realm` (a global object, maybe another frame's) depend on `config` and
// on nothing else. It runs before anything of the page's does; the natives that it lives by are
// taken out of the realm here, since the page may change them later.
//
// config: {time, seeds, clock, token, zone, source}. time: milliseconds of the epoch at which the
// page's clock starts; seeds: four 32-bit integers; clock: "step", "steady" or "all"; token: a name
// that the page cannot guess, which is also the sourceURL of documents' scripts; zone: the page's
// time zone, if one was asked for; source(seeds): this script as text, for a worker.

const { Blob, Date, Function, Math, Number, Object, Reflect, String, Uint8Array, WeakMap } = realm;
const { apply, construct, defineProperty, getOwnPropertyDescriptor } = Reflect;
const { getPrototypeOf, setPrototypeOf } = Reflect;

/** The native behind each function of ours, for Function.prototype.toString. */
const natives = new WeakMap();
const findNative = WeakMap.prototype.get.bind(natives);
const noteNative = WeakMap.prototype.set.bind(natives);

/** Makes `ours` look like `native` to whoever looks at it. */
function disguise(ours, native) {
  setPrototypeOf(ours, getPrototypeOf(native));
  for (const key of ['length', 'name']) {
    const descriptor = getOwnPropertyDescriptor(native, key);
    if (descriptor) defineProperty(ours, key, descriptor);
  }
  noteNative(ours, native);
  return ours;
}

/** Takes our lines out of the stack of an error that passes through us. */
function withoutUs(error) {
  const stack = typeof error === 'object' && error && getOwnPropertyDescriptor(error, 'stack');
  if (stack && typeof stack.value === 'string' && stack.configurable) {
    stack.value = stack.value.split('\n').filter((line) => !line.includes(config.token)).join('\n');
    defineProperty(error, 'stack', stack);
  }
  return error;
}

/** Methods written in braces have no prototype and are no constructors, as native methods. */
function asMethod(body) {
  return {
    method(...values) {
      try {
        return apply(body, this, values);
      } catch (error) {
        throw withoutUs(error);
      }
    },
  }.method;
}

/** Replaces a method: `make` is given the native and returns what stands in for it. */
function replaceMethod(holder, name, make) {
  const descriptor = holder && getOwnPropertyDescriptor(holder, name);
  if (!descriptor || typeof descriptor.value !== 'function') return;
  const native = descriptor.value;
  defineProperty(holder, name, { ...descriptor, value: disguise(asMethod(make(native)), native) });
}

/** Replaces the getter or setter ("get", "set") of an accessor. */
function replaceAccessor(holder, name, kind, make) {
  const descriptor = holder && getOwnPropertyDescriptor(holder, name);
  if (!descriptor || typeof descriptor[kind] !== 'function') return;
  const native = descriptor[kind];
  descriptor[kind] = disguise(asMethod(make(native)), native);
  defineProperty(holder, name, descriptor);
}

/** Replaces a constructor by a proxy of it with these traps; its prototype's constructor follows. */
function replaceConstructor(name, traps, holder = realm) {
  const descriptor = getOwnPropertyDescriptor(holder, name);
  if (!descriptor || typeof descriptor.value !== 'function') return;
  const native = descriptor.value;
  const guarded = {};
  for (const trap of Object.keys(traps)) {
    guarded[trap] = function (...values) {
      try {
        return traps[trap](native, ...values);
      } catch (error) {
        throw withoutUs(error);
      }
    };
  }
  const ours = new realm.Proxy(native, guarded);
  noteNative(ours, native);
  const constructor = getOwnPropertyDescriptor(native.prototype, 'constructor');
  defineProperty(native.prototype, 'constructor', { ...constructor, value: ours });
  defineProperty(holder, name, { ...descriptor, value: ours });
}

/** Whether this has been done to the realm before: it is asked by a secret of ours. */
function isDone() {
  try {
    return apply(Function.prototype.toString, config.token, []) === config.token;
  } catch {
    return false;
  }
}

function replaceToString() {
  replaceMethod(Function.prototype, 'toString', (native) => function () {
    if (this === config.token) return config.token;
    return apply(native, findNative(this) ?? this, []);
  });
}
