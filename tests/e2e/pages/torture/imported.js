import './probe.js';

// Evaluated before the module that imports it.
export const early = probe(globalThis);
