// A request as the page knows it; what is not given is not known.
export function request(given) {
  return {
    index : 0,
    url : 'https://a.test/',
    method : 'GET',
    type : 'Document',
    protocol : 'h2',
    address : '192.0.2.1:443',
    connection : '1',
    mimeType : '',
    priority : '',
    initiator : '',
    failure : '',
    number : null,
    status : 200,
    encodedBytes : 1000,
    decodedBytes : null,
    start : 0,
    dnsStart : null,
    dnsEnd : null,
    connectStart : null,
    tlsStart : null,
    connectEnd : null,
    sendStart : null,
    sendEnd : null,
    firstByte : null,
    end : null,
    fromCache : false,
    ...given,
  };
}

/** Requests numbered in this order. */
export function requests(...given) {
  return given.map((each, index) => request({ index, ...each }));
}

/** Numbers from a seed: xorshift32, 0 to 1. */
export function randomFrom(seed) {
  let state = seed || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
