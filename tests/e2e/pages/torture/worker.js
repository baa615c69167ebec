importScripts('probe.js');
const values = probe(self);
const inner = new Blob([
  `importScripts(${JSON.stringify(new URL('probe.js', location.href).href)});`,
  'postMessage({ name: "blob worker of a worker", values: probe(self) });',
]);
self.inner = new Worker(URL.createObjectURL(inner));
self.inner.onmessage = ({ data }) => postMessage(data);
self.inner.onerror = ({ message }) => postMessage({ name: 'error inside', values: { message } });
postMessage({ name: 'worker', values });
