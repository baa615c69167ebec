import './probe.js';

registerProcessor('torture', class extends AudioWorkletProcessor {
  constructor() {
    super();
    this.port.postMessage({ name: 'audio worklet', values: probe(globalThis) });
  }
  process() {
    return false;
  }
});
