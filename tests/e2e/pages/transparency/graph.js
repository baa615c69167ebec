// Everything that can be reached from a realm's global object by properties, as it looks from
// outside: keys and their order, attributes, prototypes, functions' names, lengths and texts. A line
// an object: its path, and a hash of all that, or the text itself where the path begins with `show`.
function graphFacts(realm, show) {
  const facts = [];
  const paths = new Map();
  const queue = [];
  const nameOf = (value, path) => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) {
      return `${typeof value}`;
    }
    if (!paths.has(value)) {
      paths.set(value, path);
      // Into the things that pages are made of, not into the page itself.
      const isNode = realm.Node && value instanceof realm.Node;
      if (path.split('.').length < 7 && !isNode) queue.push(value);
    }
    return `${typeof value} @${paths.get(value)}`;
  };
  const isConstructor = (value) => {
    try {
      Reflect.construct(Object, [], value);
      return true;
    } catch {
      return false;
    }
  };
  const hash = (text) => {
    let value = 0x811c9dc5;
    for (let i = 0; i < text.length; i += 1) {
      value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
    }
    return (value >>> 0).toString(16);
  };
  const describe = (object) => {
    const path = paths.get(object);
    const lines = [];
    if (typeof object === 'function') {
      lines.push(Function.prototype.toString.call(object), `constructs ${isConstructor(object)}`);
    }
    lines.push(`is a ${nameOf(Reflect.getPrototypeOf(object), `${path}.__proto__`)}`);
    lines.push(`extensible ${Object.isExtensible(object)}`);
    lines.push(`tag ${Object.prototype.toString.call(object)}`);
    const keys = Reflect.ownKeys(object).filter((key) => !/^\d+$/.test(String(key)));
    const inOrder = keys.map(String);
    // Firefox makes a window's when they are first used, and then it has them in that order.
    const isLazy = object === realm && /Firefox/.test(navigator.userAgent);
    lines.push(`keys ${isLazy ? inOrder.sort() : inOrder}`);
    const enumerable = Object.keys(object).filter((key) => !/^\d+$/.test(key));
    lines.push(`enumerates ${isLazy ? enumerable.sort() : enumerable}`);
    keys.sort((one, other) => (String(one) < String(other) ? -1 : 1));
    for (const key of keys) {
      const { value, get, set, ...flags } = Reflect.getOwnPropertyDescriptor(object, key) ?? {};
      const at = `${path}.${String(key)}`;
      let shown = `${String(key)} ${JSON.stringify(flags)}`;
      if (get || set) {
        shown += ` get ${nameOf(get, `${at}.get`)} set ${nameOf(set, `${at}.set`)}`;
      } else {
        shown += ` ${nameOf(value, at)}`;
        const isText = typeof value === 'string' || typeof value === 'number';
        if (isText && typeof object === 'function') shown += ` ${value}`;
      }
      lines.push(shown);
    }
    const text = lines.join('\n').replaceAll(location.host, 'HOST');
    facts.push(`${path} ${show && path.startsWith(show) ? text : hash(text)}`);
  };
  // Chromium makes a realm's Temporal when it is first asked for, in the realm that asks.
  realm.Reflect.get(realm, 'Temporal');
  nameOf(realm, 'window');
  while (queue.length) describe(queue.shift());
  const inherited = [];
  for (const key in realm) inherited.push(key);
  facts.push(`for in ${/Firefox/.test(navigator.userAgent) ? inherited.sort() : inherited}`);
  return facts;
}
