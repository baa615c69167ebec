// Fetches a trace by its URL. The inspected page does that, so that the request is of its origin
// and has its cookies; what it says is no more trusted than a response.
const BYTES_MAX = 16 << 20;
const TIME_MS = 5000;
const PAUSE_MS = 100;
let begun = 0; // fetches

/** Calls `done(text, why)`: the text, or a sentence that says why it cannot be read. */
export function fetchTrace(inspectedWindow, url, done) {
  // Each has its place in the page: several can be on their way.
  const kept = `globalThis[Symbol.for("reprise.trench.${begun += 1}")]`;
  const begin = `(() => {
    const kept = ${kept} = { text: null, why: null };
    fetch(${JSON.stringify(url)}, {
      credentials: "same-origin", redirect: "error", signal: AbortSignal.timeout(${TIME_MS}),
    }).then(async (response) => {
      if (response.status !== 200) throw new Error("its status is " + response.status);
      const pieces = [];
      let bytes = 0;
      for (const reader = response.body.getReader(); ;) {
        const { done, value } = await reader.read();
        if (done) break;
        bytes += value.length;
        if (bytes > ${BYTES_MAX}) throw new Error("it is longer than 16 MiB");
        pieces.push(value);
      }
      kept.text = await new Blob(pieces).text();
    }).catch((error) => { kept.why = String(error.message); });
    return true;
  })()`;
  const until = Date.now() + 2 * TIME_MS;
  const end = (text, why) => {
    inspectedWindow.eval(`delete ${kept}`, () => {});
    done(text, why);
  };
  const look = () => inspectedWindow.eval(`[${kept}.text, ${kept}.why]`, (result, failed) => {
    const [text, why] = Array.isArray(result) ? result : [null, 'the page has changed'];
    if (failed || typeof why === 'string') end(null, String(why ?? 'it cannot be fetched'));
    else if (typeof text === 'string') end(text, null);
    else if (Date.now() > until) end(null, 'it was not complete in time');
    else setTimeout(look, PAUSE_MS);
  });
  // eval() does not wait for promises.
  inspectedWindow.eval(begin, (isBegun) => {
    if (isBegun === true) look();
    else done(null, 'the page cannot fetch it');
  });
}
