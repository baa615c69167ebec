importScripts('probe.js');
const values = probe(self);
onmessage = ({ source }) => source.postMessage({ name: 'service worker', values });
