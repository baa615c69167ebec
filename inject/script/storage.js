// Where the page's clock meets the browser's. The page writes expiry dates by its own clock; the
// browser would delete what expired in the year of the recording.

/** A document loads within this time of its response; times in it have no milliseconds. */
const FRESH_MS = 60_000;

/** A cookie's text with its Expires attribute moved to the browser's clock. */
function moveExpiry(text) {
  return text.replace(/(;\s*expires\s*=)([^;]*)/gi, (whole, name, value) => {
    const time = parse(value);
    return time !== time ? whole : `${name}${apply(toUTCString, new Date(time + ahead()), [])}`;
  });
}

/** The same for the options of cookieStore.set(). */
function moveOptions(options) {
  if (typeof options !== 'object' || options === null || options.expires == null) return options;
  return { ...options, expires: Number(options.expires) + ahead() };
}

function replaceStorage() {
  const holder = realm.Document && realm.Document.prototype;
  replaceAccessor(holder, 'cookie', 'set', (native, self, values) => {
    apply(native, self, [moveExpiry(`${values[0]}`)]);
  });
  replaceMethod(realm.CookieStore && realm.CookieStore.prototype, 'set',
    (native, self, values) =>
      apply(native, self, values.length === 1 ? [moveOptions(values[0])] : values));
  // MM/DD/YYYY hh:mm:ss in local time; the present if there is no Last-Modified field.
  replaceAccessor(holder, 'lastModified', 'get', (native, self) => {
    const time = new Date(apply(native, self, [])).getTime();
    const fresh = nativeNow() - time < FRESH_MS + elapsed();
    const date = new Date(fresh ? config.time : time - DATE_SHIFT_MS);
    return `${two(date.getMonth() + 1)}/${two(date.getDate())}/${date.getFullYear()} ` +
      `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  });
  // A File created without a time gets the present.
  const file = realm.File;
  if (file) {
    replaceConstructor('File', {
      construct: (native, target, values, newTarget) => {
        const [bits, name, options] = values;
        const isBag = typeof options === 'object' || typeof options === 'function';
        if (values.length < 2 || (options !== undefined && !isBag)) {
          return construct(native, values, newTarget);
        }
        const bag = new realm.Proxy(options ?? {}, {
          get: (asked, key) => {
            const value = asked[key];
            return key === 'lastModified' && value === undefined ? now() : value;
          },
        });
        return construct(native, [bits, name, bag], newTarget);
      },
    });
  }
}
