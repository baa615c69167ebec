// Frames whose documents make no request, so that the proxy cannot put this script into them:
// about:blank, srcdoc, blob: and javascript: documents of the page's origin. Each is entered as it
// is created, by any means.

let frames = 0;
const known = new realm.WeakSet();
const names = new WeakMap();
const { getAttribute } = realm.Element ? realm.Element.prototype : {};
const getterOf = (name, key) =>
  realm[name] && getOwnPropertyDescriptor(realm[name].prototype, key).get;
const ownerDocument = getterOf('Node', 'ownerDocument');
const defaultView = getterOf('Document', 'defaultView');

/** Identifies a frame, whenever it is found; 'window' for a separate window. */
function nameOf(element) {
  if (!element) return 'window';
  if (!names.has(element)) {
    const told = ['src', 'srcdoc', 'data', 'name', 'id'].map((attribute) =>
      withoutChance(apply(getAttribute, element, [attribute]) ?? ''));
    const name = `frame ${JSON.stringify(told)}`;
    names.set(element, `${name} ${seedsFor(name)}`);
  }
  return names.get(element);
}

/**
 * A frame of another origin cannot be entered; it is served with its own script. A page can have
 * many of them, and each change of its document looks at them all.
 */
function enter(frame) {
  try {
    if (frame && !isForeign(frame) && frame.Function && !known.has(frame.Function)) {
      known.add(frame.Function);
      const seeds = seedsFor(nameOf(frame.frameElement));
      const first = config.first ?? config.seeds;
      reprise(frame, { ...config, seeds, first, natives, inherited: true });
    }
  } catch {
    // the page has changed that realm
  }
  return frame;
}

// A variable of the page with that name would replace it.
const lengthOf = getOwnPropertyDescriptor(realm, 'length')?.get;
const countFrames = (view) => apply(lengthOf, view, []);

/** Enters all frames of a window. */
function sweep(view = realm) {
  const count = countFrames(view);
  if (view === realm) frames = count;
  for (let i = 0; i < count; i += 1) enter(view[i]);
}

/** The window that shows a node; nothing if it is not a node. */
function viewOf(node) {
  try {
    const document = apply(ownerDocument, node, []) ?? node;
    return document === realm.document ? realm : apply(defaultView, document, []);
  } catch {
    return null;
  }
}

/** Whether nodes of other windows, besides frames of this one, may use our methods. */
let hasOthers = realm.parent !== realm || realm.opener != null;

/** A method that may have created a frame, in this window or in that of its node. */
const thenSweep = (always) => (native, self, values) => {
  const result = apply(native, self, values);
  const count = countFrames(realm);
  if (count === 0 && frames === 0 && !hasOthers) return result;
  const view = viewOf(self);
  if (view && view !== realm) {
    sweep(view);
  } else if (count !== frames || (always && frames > 0)) {
    sweep();
  }
  return result;
};

const thenEnter = (native, self) => enter(apply(native, self, []));

const MAKERS = {
  Node: ['appendChild', 'insertBefore'],
  Element: ['append', 'prepend', 'before', 'after', 'insertAdjacentElement', 'insertAdjacentHTML'],
  Document: ['append', 'prepend', 'write', 'writeln', 'execCommand'],
  DocumentFragment: ['append', 'prepend'],
  CharacterData: ['before', 'after'],
  Range: ['insertNode', 'surroundContents'],
};
/** These may replace one frame by another, so the number of frames does not show it. */
const REPLACERS = {
  Node: ['replaceChild'],
  Element: ['replaceChildren', 'replaceWith', 'setHTMLUnsafe'],
  Document: ['replaceChildren'],
  DocumentFragment: ['replaceChildren'],
  CharacterData: ['replaceWith'],
  ShadowRoot: ['setHTMLUnsafe'],
};

function replaceFrames() {
  if (!realm.HTMLIFrameElement) return;
  for (const [methods, always] of [[MAKERS, false], [REPLACERS, true]]) {
    for (const [name, each] of Object.entries(methods)) {
      const { prototype } = realm[name];
      for (const method of each) replaceMethod(prototype, method, thenSweep(always));
    }
  }
  for (const holder of [realm.Element.prototype, realm.ShadowRoot.prototype]) {
    for (const name of ['innerHTML', 'outerHTML']) {
      replaceAccessor(holder, name, 'set', thenSweep(true));
    }
  }
  for (const name of ['HTMLIFrameElement', 'HTMLFrameElement', 'HTMLObjectElement']) {
    const holder = realm[name] && realm[name].prototype;
    replaceAccessor(holder, 'contentWindow', 'get', thenEnter);
    replaceAccessor(holder, 'contentDocument', 'get', (native, self) => {
      const document = apply(native, self, []);
      if (document) enter(document.defaultView);
      return document;
    });
  }
  replaceMethod(realm, 'open', (native, self, values) => {
    hasOthers = true;
    return enter(apply(native, self, values));
  });
  // Elements from the parser are seen before the script after them.
  const observer = new realm.MutationObserver(() => {
    if (countFrames(realm) !== frames) sweep();
  });
  observer.observe(realm.document, { childList: true, subtree: true });
  realm.addEventListener('DOMContentLoaded', () => observer.disconnect(), { once: true });
}
