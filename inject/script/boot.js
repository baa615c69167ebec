// The outer text of a document's script: the function with all other parts, called with its config.
// Both names in capitals are filled in on embedding (embed.cmake, deterministic.cc).
(function boot(reprise, config) {
  const { stringify } = JSON;
  const { defineProperty } = Object;
  // Pages write toJSON functions for all objects.
  const plain = (value) => defineProperty(value, 'toJSON', { value: undefined });
  const text = `(${boot})((${reprise}),`;
  config.columns = text.length;
  config.source = (seeds) => `${text}${stringify(plain({ ...config, seeds: plain(seeds) }))});`;
  globalThis.document?.currentScript?.remove();  // the document is unchanged again
  reprise(globalThis, config);
})(PARTS, CONFIG);
