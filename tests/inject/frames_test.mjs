// Which frames the script enters as a page changes its document, and that it never runs into an
// error of those of another origin: each costs a millisecond.
//
// node frames_test.mjs SCRIPT_TEMPLATE.cc
import assert from 'node:assert';
import vm from 'node:vm';
import { enter } from './zone_realm.mjs';

/** The part of a document's interfaces that the script uses. */
const INTERFACES = `
  parent = globalThis;
  addEventListener = () => {};
  Node = class Node {
    get ownerDocument() { return document; }
    replaceChild() {}
    appendChild() {}
  };
  Element = class Element extends Node {
    getAttribute() { return null; }
    get innerHTML() { return ''; }
    set innerHTML(html) {}
  };
  Document = class Document extends Node {
    get defaultView() { return globalThis; }
    get readyState() { return 'complete'; }
  };
  DocumentFragment = class DocumentFragment extends Node {};
  ShadowRoot = class ShadowRoot extends DocumentFragment {};
  CharacterData = class CharacterData extends Node {};
  Range = class Range {};
  HTMLIFrameElement = class HTMLIFrameElement extends Element {
    get contentWindow() { return this.shown; }
  };
  MutationObserver = class MutationObserver {
    observe() {}
  };
  document = new Document();
  place = new Element();`;

/** A window with these frames, in which the script has run. */
function windowWith(frames) {
  const given = { frames };
  Object.defineProperty(given, 'length', { get: () => frames.length, configurable: true });
  for (const i of frames.keys()) {
    Object.defineProperty(given, i, { get: () => frames[i], configurable: true });
  }
  const realm = vm.createContext(given);
  vm.runInContext(INTERFACES, realm);
  enter(realm);
  return realm;
}

const emptyFrame = () => vm.runInContext('globalThis', vm.createContext());
const isEntered = (frame) => typeof frame.Date.parse('token') === 'object';

let errors = 0;
/** A frame of another origin: HTML, 7.2.3 "The WindowProxy exotic object". */
const foreignFrame = () => new Proxy({}, {
  getPrototypeOf: () => null,
  get() {
    errors += 1;
    throw new Error('of another origin');
  },
});

const frames = [emptyFrame(), ...Array.from({ length: 10 }, foreignFrame)];
const page = windowWith(frames);
const run = (code) => vm.runInContext(code, page);

run('place.appendChild(new Element())');
assert(isEntered(frames[0]), 'a frame is entered when there are more than before');
for (const change of ['place.innerHTML = "<b>"', 'place.replaceChild(new Element(), place)']) {
  run(`for (let i = 0; i < 100; i += 1) ${change}`);
  assert.strictEqual(errors, 0, change);
  // Their number does not change.
  frames[0] = emptyFrame();
  frames[5] = emptyFrame();
  run(change);
  assert(isEntered(frames[0]), `a replaced frame is entered: ${change}`);
  assert(isEntered(frames[5]), `so is one in the place of another origin's: ${change}`);
  frames[5] = foreignFrame();
}

page.frame = run('new HTMLIFrameElement()');
page.frame.shown = foreignFrame();
assert.strictEqual(run('frame.contentWindow'), page.frame.shown);
page.frame.shown = emptyFrame();
assert.strictEqual(run('frame.contentWindow'), page.frame.shown);
assert(isEntered(page.frame.shown), 'a frame is entered when a script asks for its window');

// The parent of a frame can be of another origin.
const framed = vm.createContext({ parent: foreignFrame() });
enter(framed);
assert(isEntered(vm.runInContext('globalThis', framed)));
assert.strictEqual(errors, 0);
console.log('frames are entered, and those of another origin left alone');
