// Workers from blob: and data: URLs make no request, so their scripts are led through here; those
// that are fetched bring this script with them.

const { Boolean, JSON, URL, XMLHttpRequest } = realm;
const blobs = new realm.Map();

/** The worker's own copy of this script. `strict`: what follows began with "use strict". */
const prelude = (strict) => `${strict ? '"use strict";' : ''}${config.source(seedsForNext())}\n`;

/** Whether the script at a blob: URL begins with a directive, which a prelude would end. */
function isStrict(url) {
  try {
    const request = new XMLHttpRequest();
    request.open('GET', url, false);
    request.send();
    return /^\s*(?:\/\/.*\s*|\/\*[^]*?\*\/\s*)*(['"])use strict\1/.test(request.responseText);
  } catch {
    return false;  // in a worker that has none, or where a policy forbids it
  }
}

function ofData(url) {
  const comma = url.indexOf(',');
  const head = url.slice(0, comma);
  const body = url.slice(comma + 1);
  if (/;\s*base64\s*$/i.test(head)) return `${head},${realm.btoa(prelude() + realm.atob(body))}`;
  return `${head},${realm.encodeURIComponent(prelude())}${body}`;
}

/** The URL to load instead of `url`. */
function led(url, isModule) {
  const text = `${url}`;
  if (/^data:/i.test(text) && !isModule) return ofData(text);
  const blob = blobs.get(text);
  if (!blob) return url;
  // Imports run in their order, before what stands beside them.
  const first = URL.createObjectURL(new Blob([prelude()], { type: 'text/javascript' }));
  const parts = isModule
    ? [`import ${JSON.stringify(first)};import ${JSON.stringify(text)};`]
    : [prelude(isStrict(text)), blob];
  return URL.createObjectURL(new Blob(parts, { type: 'text/javascript' }));
}

function replaceWorkers() {
  const createObjectURL = URL && URL.createObjectURL;
  if (!createObjectURL || !Blob) return;
  replaceMethod(URL, 'createObjectURL', (native) => function (object) {
    const url = apply(native, this, [object]);
    if (object instanceof Blob) blobs.set(url, object);
    return url;
  });
  replaceMethod(URL, 'revokeObjectURL', (native) => function (url) {
    blobs.delete(`${url}`);
    return apply(native, this, [url]);
  });
  for (const name of ['Worker', 'SharedWorker']) {
    replaceConstructor(name, {
      construct: (native, target, values, newTarget) => {
        const [url, options, ...rest] = values;
        const isModule = Boolean(options && options.type === 'module');
        const others = values.length > 1 ? [options, ...rest] : [];
        return construct(native, values.length ? [led(url, isModule), ...others] : [], newTarget);
      },
    });
  }
  replaceMethod(realm.Worklet && realm.Worklet.prototype, 'addModule', (native) =>
    function (url, ...rest) {
      return apply(native, this, [led(url, true), ...rest]);
    });
}
