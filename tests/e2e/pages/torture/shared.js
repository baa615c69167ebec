importScripts('probe.js');
const values = probe(self);
onconnect = ({ ports: [port] }) => port.postMessage({ name: 'shared worker', values });
