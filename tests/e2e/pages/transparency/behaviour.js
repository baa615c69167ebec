// What built-ins do when they are used, and misused: results that do not depend on time, errors
// with their messages and stacks.
function behaviourFacts(realm) {
  const facts = [];
  const { Date, Math, Reflect, Object, Function, JSON, Symbol, Intl } = realm;
  const show = (value) => {
    if (typeof value === 'function') return `function ${value.name}/${value.length}`;
    if (typeof value === 'symbol') return String(value);
    if (Array.isArray(value)) return `[${value.map(show)}]`;
    if (typeof value === 'object' && value !== null) return Object.prototype.toString.call(value);
    return `${typeof value} ${value}`;
  };
  const tell = (name, read) => {
    let fact;
    try {
      fact = show(read());
    } catch (error) {
      const kind = error && error.constructor && error.constructor.name;
      fact = `throws ${kind} ${error && error.message}, own realm ${error instanceof Error}, ` +
        `keys ${error && Reflect.ownKeys(error).map(String)}`;
      facts.push(`${name} stack: ${error && error.stack}`.replaceAll(location.origin, 'ORIGIN'));
    }
    facts.push(`${name}: ${fact}`);
  };

  const day = Date.UTC(2020, 1, 29, 12, 30, 15, 999);
  for (const values of [[], [day], [2020, 1, 29], ['2020-02-29'], ['2020-02-29T12:00'],
    ['29 Feb 2020 12:00 UTC'], [new Date(day)], [NaN], [undefined], [null], ['x'], [true],
    [{ valueOf: () => 5 }], [{ toString: () => '2020' }], [Symbol.iterator], [1n],
    [{ [Symbol.toPrimitive]: (hint) => (hint === 'default' ? 7 : NaN) }],
    [{ valueOf() { throw new TypeError('ours'); } }], [8.65e15], [1, 2, 3, 4, 5, 6, 7, 8]]) {
    const name = values.map((value) => show(value));
    tell(`new Date(${name})`, () => values.length === 0 || new Date(...values).getTime());
    tell(`Date(${name})`, () => typeof Date(...values));
    tell(`Date.parse(${name})`, () => values.length === 0 || Date.parse(...values));
    tell(`Date.UTC(${name})`, () => Date.UTC(...values));
  }
  tell('Date format', () => /^\w{3} \w{3} \d\d \d{4} \d\d:\d\d:\d\d GMT[+-]\d{4} \(.+\)$/.test(Date()));
  tell('Date.call', () => typeof Date.call({}, 0));
  tell('Date.apply', () => typeof Date.apply(undefined, []));
  tell('Date.bind', () => new (Date.bind(null, day))().getTime());
  tell('bound name', () => Date.bind().name + Math.random.bind().name);
  tell('now of anything', () => typeof Date.now.call(null) + typeof (0, Date.now)());
  tell('new Date.now', () => new Date.now());
  tell('new Math.random', () => new Math.random());
  tell('now grows', () => Date.now() <= Date.now() && new Date() - Date.now() <= 0);
  tell('now is whole', () => Number.isInteger(Date.now()) && Number.isInteger(+new Date()));
  tell('random is in range', () => {
    for (let i = 0; i < 1000; i += 1) {
      const value = Math.random();
      if (!(value >= 0 && value < 1)) return value;
    }
    return new Set(Array.from({ length: 1000 }, Math.random)).size;
  });

  // Subclasses, new.target and prototypes.
  class Later extends Date {
    static make() { return new this(); }
    get more() { return super.getTime() * 0 + 1; }
  }
  tell('subclass', () => [new Later() instanceof Later, new Later() instanceof Date,
    new Later(day).getTime(), Later.make().more, Later.name, Later.length, new Later().constructor.name,
    Object.getPrototypeOf(Later) === Date, typeof Later.now()]);
  tell('subclass of subclass', () => new (class extends Later {})(5).getTime());
  tell('old subclass', () => {
    function Old() { return Reflect.construct(Date, [5], new.target); }
    Old.prototype = Object.create(Date.prototype);
    return [new Old() instanceof Old, new Old().getTime()];
  });
  tell('construct', () => [Reflect.construct(Date, [5], Object) instanceof Date,
    Object.getPrototypeOf(Reflect.construct(Date, [], Array)) === realm.Array.prototype]);
  tell('construct without prototype', () => {
    function f() {}
    f.prototype = 1;
    return Object.getPrototypeOf(Reflect.construct(Date, [5], f)) === Date.prototype;
  });
  tell('calls no constructor', () => Later());
  tell('extends an instance', () => new (class extends new Date() {})());
  tell('constructor', () => [new Date().constructor === Date, Date.prototype.constructor === Date,
    Date === realm.Date, 'now' in Date, Object.hasOwn(Date, 'now'), Date.hasOwnProperty('UTC')]);
  tell('foreign this', () => Date.prototype.getTime.call({}));
  tell('foreign proxy', () => Date.prototype.getTime.call(new Proxy(new Date(5), {})));
  tell('toPrimitive', () => [typeof new Date(5)[Symbol.toPrimitive]('number'),
    typeof (new Date(5) + 1), new Date(5) * 2, `${new Date(NaN)}`]);
  tell('toPrimitive of nothing', () => new Date()[Symbol.toPrimitive]());
  tell('JSON', () => [JSON.stringify(new Date(day)), JSON.stringify({ a: new Date(NaN) })]);
  if (realm.structuredClone) {
    tell('structuredClone', () => [realm.structuredClone(new Date(day)).getTime(),
      realm.structuredClone(new Date(day)) instanceof Date]);
    tell('structuredClone of a function', () => realm.structuredClone(Date));
  }
  tell('toISOString', () => new Date(NaN).toISOString());

  // Functions as values.
  for (const [name, each] of Object.entries({
    Date, now: Date.now, random: Math.random, parse: Date.parse,
    toString: Function.prototype.toString,
    getRandomValues: realm.crypto && realm.crypto.getRandomValues,
    randomUUID: realm.crypto && realm.crypto.randomUUID,
    Worker: realm.Worker, Blob: realm.Blob, File: realm.File,
    createObjectURL: realm.URL && realm.URL.createObjectURL,
    appendChild: realm.Node && realm.Node.prototype.appendChild,
    write: realm.Document && realm.Document.prototype.write,
    get: realm.Headers && realm.Headers.prototype.get,
    entries: realm.Headers && realm.Headers.prototype.entries,
    getResponseHeader: realm.XMLHttpRequest && realm.XMLHttpRequest.prototype.getResponseHeader,
  })) {
    if (!each) continue;
    tell(`${name} text`, () => [`${each}`, Function.prototype.toString.call(each), each + '',
      each.toString === Function.prototype.toString]);
    tell(`${name} own`, () => Reflect.ownKeys(each).map(String));
    tell(`${name} prototype`, () => [Object.hasOwn(each, 'prototype'), Object.getPrototypeOf(each) ===
      Function.prototype, 'caller' in each, 'arguments' in each]);
    tell(`${name} caller`, () => each.caller);
    tell(`${name} arguments`, () => each.arguments);
    tell(`${name} of nothing`, () => { each.call(undefined); });
    tell(`${name} of an object`, () => { each.call({}); });
    tell(`new ${name}`, () => { new each(); });
    tell(`${name} as a class`, () => { new (class extends each {})(); });
    tell(`${name} as heritage`, () => (class extends each {}).name);
    tell(`${name} cannot be redefined but as before`, () => {
      const copy = Object.create(null, Object.getOwnPropertyDescriptors(each));
      return Reflect.ownKeys(copy).length;
    });
    tell(`${name} instanceof`, () => [each instanceof Function, each instanceof Object,
      Object.prototype.toString.call(each)]);
    tell(`${name} in a proxy`, () => Function.prototype.toString.call(new Proxy(each, {})));
    tell(`${name} prototype cycle`, () => Object.setPrototypeOf(each, Object.create(each)));
  }
  tell('open text', () => realm.open && `${realm.open}`);
  tell('toString of nothing', () => Function.prototype.toString.call(null));
  tell('toString of text', () => Function.prototype.toString.call('no function'));
  tell('toString of toString', () => Function.prototype.toString.toString());
  tell('toString of a bound', () => Function.prototype.toString.bind(Date)());

  // Errors that pass through.
  if (realm.crypto && realm.crypto.getRandomValues) {
    tell('getRandomValues of floats', () => realm.crypto.getRandomValues(new realm.Float32Array(1)));
    tell('getRandomValues of much', () => realm.crypto.getRandomValues(new realm.Uint8Array(65537)));
    tell('getRandomValues of nothing', () => realm.crypto.getRandomValues());
    tell('getRandomValues of a view', () => {
      const all = new realm.Uint8Array(16);
      const some = realm.crypto.getRandomValues(all.subarray(4, 8));
      return [some.length, all[0] + all[15], some.buffer === all.buffer];
    });
    tell('getRandomValues gives back', () => {
      const array = new realm.Uint32Array(3);
      return realm.crypto.getRandomValues(array) === array;
    });
  }
  if (realm.crypto && realm.crypto.randomUUID) {
    tell('randomUUID', () => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
      .test(realm.crypto.randomUUID()));
  }
  if (Intl) {
    const formatter = new Intl.DateTimeFormat('en', { timeZone: 'UTC' });
    tell('format', () => [formatter.format(day), formatter.format.name, formatter.format.length,
      formatter.format === formatter.format, Function.prototype.toString.call(formatter.format),
      Object.hasOwn(formatter.format, 'prototype')]);
    tell('format of a bad date', () => formatter.format(NaN));
    tell('format of an object', () => formatter.format({ valueOf() { throw new RangeError('x'); } }));
    tell('formatToParts of a bad date', () => formatter.formatToParts('x'));
    tell('format on another', () => Reflect.get(Intl.DateTimeFormat.prototype, 'format', {}));
    tell('DateTimeFormat called', () => Intl.DateTimeFormat('en') instanceof Intl.DateTimeFormat);
    tell('DateTimeFormat bad', () => new Intl.DateTimeFormat('x-y-z-!'));
    tell('DateTimeFormat bad zone', () => new Intl.DateTimeFormat('en', { timeZone: 'No/Where' }));
    tell('DateTimeFormat null', () => new Intl.DateTimeFormat('en', null));
    tell('DateTimeFormat order', () => {
      const asked = [];
      new Intl.DateTimeFormat('en', new Proxy({}, { get(_, key) { asked.push(String(key)); } }));
      return asked.join();
    });
    tell('DateTimeFormat subclass', () => new (class extends Intl.DateTimeFormat {})('en').format(0) !== '');
  }
  if (realm.document) {
    const { document } = realm;
    tell('appendChild of text', () => document.body.appendChild('x'));
    tell('appendChild cycle', () => document.body.appendChild(document.documentElement));
    tell('innerHTML of another', () => Object.getOwnPropertyDescriptor(
      realm.Element.prototype, 'innerHTML').set.call({}, 'x'));
    tell('contentWindow of another', () => Object.getOwnPropertyDescriptor(
      realm.HTMLIFrameElement.prototype, 'contentWindow').get.call({}));
    tell('cookie of another', () => Object.getOwnPropertyDescriptor(
      realm.Document.prototype, 'cookie').set.call({}, 'x'));
    tell('cookie', () => {
      document.cookie = 'plain=1; path=/';
      return document.cookie.includes('plain=1');
    });
    tell('scripts', () => [...document.scripts].filter((each) => !each.src).length);
    tell('first in head', () => document.head.firstChild && document.head.firstChild.nodeName);
    tell('lastModified', () => /^\d\d\/\d\d\/\d{4} \d\d:\d\d:\d\d$/.test(document.lastModified));
  }
  if (realm.Worker) {
    tell('Worker without new', () => realm.Worker('x'));
    tell('Worker of a bad address', () => new realm.Worker('http://['));
  }
  if (realm.URL && realm.URL.createObjectURL) {
    tell('createObjectURL of text', () => realm.URL.createObjectURL('x'));
    tell('createObjectURL', () => realm.URL.createObjectURL(new realm.Blob(['x'])).slice(0, 5));
  }
  if (realm.File) {
    tell('File without a name', () => new realm.File([]));
    tell('File', () => [new realm.File(['ab'], 'n').size, new realm.File([], 'n', { lastModified: 5 }).lastModified,
      new realm.File([], 'n', { type: 'a/b' }).type, new realm.File([], 'n') instanceof realm.Blob]);
    tell('File with bad options', () => new realm.File([], 'n', 5));
    tell('File order', () => {
      const asked = [];
      new realm.File([], 'n', new Proxy({}, { get(_, key) { asked.push(String(key)); } }));
      return asked.join();
    });
  }
  if (realm.Headers) {
    const headers = new realm.Headers({ date: 'x', b: 'y' });
    const { prototype } = realm.Headers;
    tell('Headers', () => [headers.get('Date'), headers.get('c'), [...headers].join(),
      [...headers.values()].join(), prototype.entries === prototype[Symbol.iterator],
      show(headers.entries()), show(Object.getPrototypeOf(headers.entries()))]);
    tell('Headers.get of nothing', () => headers.get());
    tell('Headers.get of a bad name', () => headers.get('a b'));
    tell('Headers.get of a symbol', () => headers.get(Symbol.iterator));
    tell('Headers.get of another', () => prototype.get.call({}, 'a'));
    tell('Headers.forEach of nothing', () => headers.forEach());
    tell('Headers.forEach', () => {
      const seen = [];
      headers.forEach(function each(...values) { seen.push(this.a, ...values.map(show)); }, { a: 1 });
      return seen;
    });
    tell('Headers.forEach that throws', () => headers.forEach(() => { throw new TypeError('x'); }));
    tell('Headers.next of another', () => Object.getPrototypeOf(headers.keys()).next.call({}));
    tell('Response.headers', () => {
      const response = new realm.Response('', { headers });
      return [response.headers === response.headers, response.headers.get('date')];
    });
    tell('Response.headers of another', () => Reflect.get(realm.Response.prototype, 'headers', {}));
  }
  if (realm.XMLHttpRequest) {
    const request = new realm.XMLHttpRequest();
    tell('XMLHttpRequest', () => [request.getResponseHeader('date'), request.getAllResponseHeaders()]);
    tell('getResponseHeader of nothing', () => request.getResponseHeader());
  }
  if (realm.Temporal) {
    const { Now } = realm.Temporal;
    tell('Temporal', () => [Now.instant() instanceof realm.Temporal.Instant, Now.timeZoneId() !== '',
      Now.plainDateISO('UTC') instanceof realm.Temporal.PlainDate, show(Now)]);
    tell('Temporal bad zone', () => Now.zonedDateTimeISO('No/Where'));
    tell('Temporal bad type', () => Now.plainDateISO(5));
  }
  // Our lines in stacks of errors that are made, not thrown, inside callbacks of ours.
  tell('stack of a callback', () => {
    let stack = '';
    new Date({ valueOf() { stack = new Error('x').stack; return 5; } });
    return stack.replaceAll(location.origin, 'ORIGIN');
  });
  tell('depth', () => {
    const dive = (n) => (n === 0 ? Date.now() : dive(n - 1));
    return typeof dive(1000);
  });
  return facts.map((fact) => fact.replaceAll(location.host, 'HOST'));
}

/** Which of its connections a shared worker counts when a page starts one URL twice. */
async function sharedFacts({ Blob, SharedWorker, URL }) {
  const script = 'let count = 0; onconnect = ({ ports: [port] }) => port.postMessage(count += 1);';
  const blob = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
  const data = `data:text/javascript,${encodeURIComponent(script)}`;
  const facts = [];
  for (const url of [blob, data]) {
    for (const time of ['first', 'second']) {
      const worker = new SharedWorker(url);
      const told = await new Promise((resolve) => {
        worker.port.onmessage = ({ data: count }) => resolve(count);
        worker.onerror = () => resolve('an error');
      });
      facts.push(`${time} shared worker of ${url.slice(0, 5)} ${told}`);
    }
  }
  return facts;
}

/** How two realms of one page look to each other. */
function acrossFacts(ours, theirs) {
  const yes = (name, value) => `${name}: ${value}`;
  const date = new theirs.Date(5);
  return [
    yes('instanceof', [date instanceof Date, date instanceof theirs.Date, new Date() instanceof theirs.Date]),
    yes('distinct', [ours.Date !== theirs.Date, ours.Math.random !== theirs.Math.random,
      ours.Function.prototype.toString !== theirs.Function.prototype.toString]),
    yes('getTime', Date.prototype.getTime.call(date)),
    yes('tag', Object.prototype.toString.call(date)),
    yes('constructor', date.constructor === theirs.Date),
    yes('their text by ours', ours.Function.prototype.toString.call(theirs.Date)),
    yes('their methods by ours', ours.Function.prototype.toString.call(theirs.Math.random)),
    yes('our text by theirs', theirs.Function.prototype.toString.call(ours.Date)),
    yes('our methods by theirs', theirs.Function.prototype.toString.call(ours.Date.now)),
    yes('construct across', Reflect.construct(ours.Date, [5], theirs.Date) instanceof theirs.Date),
    yes('prototype of a foreign target', (() => {
      const target = theirs.Function('');
      target.prototype = null;
      return Object.getPrototypeOf(Reflect.construct(ours.Date, [5], target)) === theirs.Date.prototype;
    })()),
  ];
}
