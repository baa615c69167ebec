// Random numbers. xoshiro128** (Blackman and Vigna, "Scrambled linear pseudorandom number
// generators", 2021), seeded for each realm from config.seeds and the realm's identity, so that
// frames and workers draw different numbers. Within a realm each script has its own sequence: the
// network decides which of them runs first.

const imul = Math.imul;

/** FNV-1a over the UTF-16 units of a text. */
function hash(text) {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    value = imul(value ^ text.charCodeAt(i), 0x01000193);
  }
  return value;
}

/** SplitMix32: spreads the differences of seeds and names over all bits. */
function spread(value) {
  value = imul(value ^ (value >>> 16), 0x85ebca6b);
  value = imul(value ^ (value >>> 13), 0xc2b2ae35);
  return value ^ (value >>> 16);
}

/** A blob's URL is itself random, and that of a data: worker contains this script's settings. */
const withoutChance = (url) => /^(?:blob|data):/i.exec(url)?.[0] ?? url;

const NativeError = realm.Error;
const URL_IN_STACK = /(?:https?|file|blob|data):[^\s?#)]*/;
/** Finding the caller takes microseconds, too long for scripts that draw thousands of numbers. */
const LOOKS_MAX = 1000;

let of;
let seeds;
let looks = 0;
const sequences = new realm.Map();
/** The state for all callers once LOOKS_MAX is used up. */
let last;

/** Restarts, for a new document in the realm. */
function sow(fresh) {
  const place = realm.location ? withoutChance(realm.location.href) : '';
  of = hash(`${Object.prototype.toString.call(realm)} ${place}`);
  seeds = fresh;
  looks = 0;
  last = undefined;
  sequences.clear();
}

/** The URL of the calling script; empty if the page would notice the look at the stack. */
function asker() {
  if (looks === LOOKS_MAX || NativeError.prepareStackTrace !== undefined) return '';
  looks += 1;
  const [url] = URL_IN_STACK.exec(withoutOurLines(`${new NativeError().stack}`)) ?? [''];
  return withoutChance(url.replace(/(:\d+){1,2}$/, ''));
}

/** The state of the caller's generator. */
function sequence() {
  renew();
  if (last) return last;
  const name = asker();
  let state = sequences.get(name);
  if (!state) {
    const own = of ^ hash(name);
    state = new Int32Array(seeds.map((seed, i) => spread(seed ^ spread(own + i))));
    if (state.every((word) => word === 0)) state[0] = 1;
    sequences.set(name, state);
  }
  if (name === '' && looks === LOOKS_MAX) last = state;
  return state;
}

const heirs = new realm.Map();

/** Seeds for a frame or worker made by this realm: for the nth of its name. */
function seedsFor(name) {
  renew();
  const nth = (heirs.get(name) ?? 0) + 1;
  heirs.set(name, nth);
  const heir = of + hash(`${nth} ${name}`);
  return seeds.map((seed, i) => spread(seed ^ spread(heir + i)));
}

/** 32 random bits. */
function bits(state) {
  const product = imul(state[1], 5);
  const result = imul((product << 7) | (product >>> 25), 9);
  const t = state[1] << 9;
  state[2] ^= state[0];
  state[3] ^= state[1];
  state[1] ^= state[2];
  state[0] ^= state[3];
  state[2] ^= t;
  state[3] = (state[3] << 11) | (state[3] >>> 21);
  return result >>> 0;
}

/** A number in [0, 1), with 53 bits. */
function random() {
  const state = sequence();
  return ((bits(state) >>> 5) * 67108864 + (bits(state) >>> 6)) / 9007199254740992;
}

function uuid() {
  const state = sequence();
  let text = '';
  for (let i = 0; i < 32; i += 1) {
    let digit = bits(state) >>> 28;
    if (i === 12) digit = 4;
    if (i === 16) digit = 8 | (digit & 3);
    if (i === 8 || i === 12 || i === 16 || i === 20) text += '-';
    text += digit.toString(16);
  }
  return text;
}

function replaceRandom() {
  sow(config.seeds);
  replaceMethod(Math, 'random', random);
  const prototype = realm.Crypto && realm.Crypto.prototype;
  replaceMethod(prototype, 'getRandomValues', (native, self, values) => {
    const array = apply(native, self, values);  // for all its checks
    const state = sequence();
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    for (let i = 0; i < bytes.length; i += 1) bytes[i] = bits(state) >>> 24;
    return array;
  });
  replaceMethod(prototype, 'randomUUID', (native, self) => {
    apply(native, self, []);
    return uuid();
  });
}
