// Frames that no request of their own brings this script to: about:blank, srcdoc, blob: and
// javascript: documents of the page's origin. Each is entered when it has come into being, by
// whatever may have made it.

let frames = 0;

/** The config of the next frame; its seeds are drawn when it turns out to be new. */
const heir = {
  ...config,
  get seeds() {
    return seedsForNext();
  },
};

/** A frame of another origin cannot be entered: the script that it is served with is its own. */
function enter(frame) {
  try {
    if (frame && frame.Function) reprise(frame, heir);
  } catch {
    // of another origin
  }
  return frame;
}

function sweep() {
  frames = realm.length;
  for (let i = 0; i < frames; i += 1) enter(realm[i]);
}

/** A method that may have made a frame. */
const thenSweep = (always) => (native) => function (...values) {
  const result = apply(native, this, values);
  if (realm.length !== frames || (always && frames > 0)) sweep();
  return result;
};

const thenEnter = (native) => function (...values) {
  return enter(apply(native, this, values));
};

const MAKERS = {
  Node: ['appendChild', 'insertBefore'],
  Element: ['append', 'prepend', 'before', 'after', 'insertAdjacentElement', 'insertAdjacentHTML'],
  Document: ['append', 'prepend', 'write', 'writeln'],
  DocumentFragment: ['append', 'prepend'],
  CharacterData: ['before', 'after'],
  Range: ['insertNode', 'surroundContents'],
};
/** These may take one frame out and put another in, so that their number tells nothing. */
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
    replaceAccessor(holder, 'contentDocument', 'get', (native) => function () {
      const document = apply(native, this, []);
      if (document) enter(document.defaultView);
      return document;
    });
  }
  replaceMethod(realm, 'open', thenEnter);
  // What the parser makes is seen before the script that follows it.
  const observer = new realm.MutationObserver(() => {
    if (realm.length !== frames) sweep();
  });
  observer.observe(realm.document, { childList: true, subtree: true });
  realm.addEventListener('DOMContentLoaded', () => observer.disconnect(), { once: true });
}
