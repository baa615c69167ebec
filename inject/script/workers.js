// Workers from blob: and data: URLs make no request, so this wraps their scripts; fetched workers
// bring this script with them.

const { URL } = realm;
const { TrustedScriptURL } = realm;
const blobs = new realm.Map();
const strict = new realm.WeakSet();
// Shared workers are shared by their URLs, so one URL must not get a second one of ours.
const shared = new realm.Map();
const createObjectURL = URL && URL.createObjectURL;

// The page's own may never reach the end of a text.
const { exec } = realm.RegExp.prototype;
// One token at a time: a pattern for all that can come before a directive takes forever where a
// text fits it in many ways.
const BEFORE_DIRECTIVE = /\s+|\/\/.*|\/\*[^]*?\*\//y;
const DIRECTIVE = /(['"])use strict\1/y;

/** Whether a script begins with a directive, which text before it would disable. */
function isStrict(text) {
  BEFORE_DIRECTIVE.lastIndex = 0;
  DIRECTIVE.lastIndex = 0;
  while (apply(exec, BEFORE_DIRECTIVE, [text])) {
    DIRECTIVE.lastIndex = BEFORE_DIRECTIVE.lastIndex;
  }
  return apply(exec, DIRECTIVE, [text]) !== null;
}

/** The worker's own copy of this script, after the directive of a strict one. */
const prelude = (ofStrict) =>
  (ofStrict ? '"use strict";' : '') + config.source(seedsFor('worker'));

/** The bytes of a data: URL's body. Browsers remove tabs and line ends from URLs. */
const bytesOf = (body) => body.replace(/[\t\n\r]/g, '')
  .replace(/%([0-9a-f]{2})/gi, (all, hex) => String.fromCharCode(realm.parseInt(hex, 16)));

function ofData(url) {
  const [, head, body, fragment] = /^([^,#]*),([^#]*)([^]*)$/.exec(url) ?? [];
  if (body === undefined) return url;
  const isCoded = /;\s*base64\s*$/i.test(head);
  let script = bytesOf(body);
  try {
    if (isCoded) script = realm.atob(script);
  } catch {
    return url;  // the browser cannot decode it either
  }
  const first = prelude(isStrict(script));
  const whole = isCoded ? realm.btoa(first + script) : realm.encodeURIComponent(first) + body;
  return `${head},${whole}${fragment}`;
}

/** The URL to load instead of `url`. */
function led(url) {
  // Where trusted types are enforced, our objects are not trusted, and creating a policy would be
  // visible.
  if (TrustedScriptURL && url instanceof TrustedScriptURL) return url;
  const text = `${url}`;
  if (/^data:/i.test(text)) return ofData(text);
  const [place] = text.split('#', 1);
  const blob = blobs.get(place);
  if (!blob) return url;
  const parts = [prelude(strict.has(blob)), blob];
  const made = apply(createObjectURL, URL, [new Blob(parts, { type: 'text/javascript' })]);
  return made + text.slice(place.length);
}

/** The same for a shared worker: each call with one URL gets the same one. */
function ledShared(url) {
  if (TrustedScriptURL && url instanceof TrustedScriptURL) return url;
  const text = `${url}`;
  const [given] = /^data:/i.test(text) ? [text] : text.split('#', 1);
  if (!shared.has(given)) {
    const made = led(given);
    if (made === given) return text;
    shared.set(given, made);
  }
  return shared.get(given) + text.slice(given.length);
}

/** Arguments whose first, if any, is a script's URL. */
function ledFirst(values, lead = led) {
  const [url, ...rest] = values;
  return values.length ? [lead(url), ...rest] : [];
}

/** Remembers which blobs are strict scripts: reading them later would be visible, or forbidden. */
function replaceBlob() {
  const { File } = realm;
  const isParent = File && getPrototypeOf(File) === Blob;
  replaceConstructor('Blob', {
    construct: (native, target, values, newTarget) => {
      const blob = construct(native, values, newTarget);
      const [parts] = values;
      if (Array.isArray(parts) && typeof parts[0] === 'string' && isStrict(parts[0])) {
        strict.add(blob);
      }
      return blob;
    },
  });
  if (isParent) setPrototypeOf(File, realm.Blob);
}

function replaceWorkers() {
  if (!createObjectURL || !Blob) return;
  replaceBlob();
  replaceMethod(URL, 'createObjectURL', (native, self, values) => {
    const url = apply(native, self, values);
    if (values[0] instanceof Blob) blobs.set(url, values[0]);
    return url;
  });
  replaceMethod(URL, 'revokeObjectURL', (native, self, values) => {
    const result = apply(native, self, values);
    const url = `${values[0]}`;
    blobs.delete(url);
    shared.delete(url);
    return result;
  });
  for (const [name, lead] of [['Worker', led], ['SharedWorker', ledShared]]) {
    replaceConstructor(name, {
      construct: (native, target, values, newTarget) =>
        construct(native, ledFirst(values, lead), newTarget),
    });
  }
  replaceMethod(realm.Worklet && realm.Worklet.prototype, 'addModule',
    (native, self, values) => apply(native, self, ledFirst(values)));
}
