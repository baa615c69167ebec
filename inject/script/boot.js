// What stands in a document: the function that all the other parts are, called with its config.
// Both names in capitals are put in by whoever embeds this (embed.cmake, deterministic.cc).
(function boot(reprise, config) {
  const { stringify } = JSON;
  const text = `(${boot})(${reprise},`;
  config.columns = text.length;
  config.source = (seeds) => `${text}${stringify({ ...config, seeds })});`;
  globalThis.document?.currentScript?.remove();  // the document is as it was
  reprise(globalThis, config);
})(PARTS, CONFIG);
