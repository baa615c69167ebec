// Asks a realm for all that it knows of time and chance. Also runs in workers and worklets.
function probe(realm) {
  const values = {};
  const tell = (name, read) => {
    try {
      const value = read();
      if (value !== undefined) values[name] = typeof value === 'object' ? `${value}` : value;
    } catch (error) {
      values[name] = `${error.name}`;
    }
  };
  const { Date, Math, Intl, crypto, document, Temporal } = realm;
  tell('Date.now', () => [Date.now(), Date.now(), Date.now()]);
  tell('new Date', () => new Date().getTime());
  tell('Date()', () => Date());
  tell('Reflect.construct', () => realm.Reflect.construct(Date, []).getTime());
  tell('subclass', () => new (class Later extends Date {})().getTime());
  tell('toString', () => new Date().toString());
  tell('toLocaleString', () => new Date().toLocaleString());
  tell('getTimezoneOffset', () => new Date().getTimezoneOffset());
  tell('Math.random', () => [Math.random(), Math.random(), Math.random()]);
  if (Intl) {
    tell('format', () => new Intl.DateTimeFormat('en', { timeStyle: 'long' }).format());
    tell('formatToParts', () => new Intl.DateTimeFormat('en', { fractionalSecondDigits: 3 })
      .formatToParts().map((part) => part.value).join(' '));
    tell('timeZone', () => new Intl.DateTimeFormat().resolvedOptions().timeZone);
  }
  if (Temporal) {
    for (const name of ['instant', 'zonedDateTimeISO', 'plainDateTimeISO', 'plainDateISO',
      'plainTimeISO', 'timeZoneId']) {
      tell(`Temporal.Now.${name}`, () => Temporal.Now[name]().toString());
    }
  }
  if (crypto) {
    for (const name of ['Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array',
      'Uint16Array', 'Int32Array', 'Uint32Array', 'BigInt64Array', 'BigUint64Array']) {
      tell(name, () => crypto.getRandomValues(new realm[name](2)));
    }
    tell('randomUUID', () => crypto.randomUUID && crypto.randomUUID());
  }
  if (realm.File) tell('File', () => new realm.File(['x'], 'x').lastModified);
  if (document) {
    tell('lastModified', () => document.lastModified);
    tell('cookie', () => {
      const name = `torture${Math.floor(Math.random() * 1e6)}`;
      document.cookie = `${name}=1; expires=${new Date(Date.now() + 864e5).toUTCString()}`;
      return document.cookie.includes(`${name}=1`);
    });
  }
  return values;
}
globalThis.probe = probe;
