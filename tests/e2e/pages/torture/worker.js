importScripts('probe.js');
const values = probe(self);
const inner = new Blob([
  `importScripts(${JSON.stringify(new URL('probe.js', location.href).href)});`,
  'postMessage({ name: "blob worker of a worker", values: probe(self) });',
]);
if (self.Worker) {
  new Worker(URL.createObjectURL(inner)).onmessage = ({ data }) => postMessage(data);
}
postMessage({ name: 'worker', values });
