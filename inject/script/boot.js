// The outer text of a document's script: the function with all other parts, called with its config.
// Both names in capitals are filled in on embedding (embed.cmake, deterministic.cc).
(function boot(reprise, config) {
  const { stringify } = JSON;
  const text = `(${boot})((${reprise}),`;
  config.columns = text.length;
  config.source = (seeds) => `${text}${stringify({ ...config, seeds })});`;
  globalThis.document?.currentScript?.remove();  // the document is unchanged again
  reprise(globalThis, config);
})(PARTS, CONFIG);
