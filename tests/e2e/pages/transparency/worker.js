importScripts('graph.js', 'behaviour.js');
const show = new URLSearchParams(location.search).get('show');
postMessage([...graphFacts(self, show), ...behaviourFacts(self)]);
