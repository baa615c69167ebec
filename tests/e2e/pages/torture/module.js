import './probe.js';
import { early } from './imported.js';

postMessage({ name: 'module worker', values: probe(self) });
postMessage({ name: 'import of a module worker', values: early });
