// The model in the page (MODEL.md), as objects.

/** Converts column names to field names: `dns_start_ms` becomes `dnsStart`. */
function fieldName(column) {
  return column.replace(/_ms$/, '').replace(/_([a-z])/g, (all, letter) => letter.toUpperCase());
}

/** `text` is JSON. Loads get their index; their requests stay packed until they are needed. */
export function readModel(text) {
  const model = JSON.parse(text);
  model.textFields = model.text_columns.map(fieldName);
  model.numberFields = model.number_columns.map(fieldName);
  model.loads.forEach((load, index) => { load.index = index; });
  return model;
}

/** A head, packed as the numbers of its texts, as { line, fields: [[name, value]] }. */
function unpacked(packed, texts) {
  const fields = [];
  for (let at = 1; at + 1 < packed.length; at += 2) {
    fields.push([texts[packed[at]], texts[packed[at + 1]]]);
  }
  return { line: texts[packed[0]], fields };
}

const keyOf = ({ method, url }) => `${method} ${url}`;

/** The heads of all recordings, by method and URL: the first of each. */
function recordedHeads(model) {
  if (model.recordedHeads) return model.recordedHeads;
  const { texts, textFields } = model;
  const [method, url] = [textFields.indexOf('method'), textFields.indexOf('url')];
  model.recordedHeads = new Map();
  for (const load of model.loads) {
    for (const packed of load.heads ?? []) {
      const row = load.requests[packed[0]];
      const key = keyOf({ method: texts[row[method]], url: texts[row[url]] });
      if (!model.recordedHeads.has(key)) model.recordedHeads.set(key, packed);
    }
  }
  return model.recordedHeads;
}

/**
 * A function that gives the heads of a request, { request, response, recorded }, or null. A load
 * has none of its own, but those of a recording on the same page: then `recorded` is true.
 */
function headsOf(model, load) {
  const own = new Map((load.heads ?? []).map((packed) => [packed[0], packed]));
  const has = own.size > 0 || load.heads_left_out > 0;
  const others = has ? new Map() : recordedHeads(model);
  return (request) => {
    const packed = own.get(request.index) ?? others.get(keyOf(request));
    if (!packed) return null;
    const [, asked, answered] = packed;
    return {
      request: unpacked(asked, model.texts),
      response: unpacked(answered, model.texts),
      recorded: !own.has(request.index),
    };
  };
}

/** The requests of a load as objects, in the order in which they were sent. */
export function requestsOf(model, load) {
  const { textFields, numberFields, texts } = model;
  const traces = new Map(load.traces);
  const heads = headsOf(model, load);
  return load.requests.map((row, index) => {
    const request = { index };
    let at = 0;
    for (const field of textFields) request[field] = texts[row[at++]];
    for (const field of numberFields) request[field] = row[at++];
    request.fromCache = row[at] === 1;
    request.trace = traces.get(index) ?? null; // its JSON, or why it is missing
    request.heads = heads(request);
    return request;
  });
}

/** The marks of a load on its time axis, in the order of time, without those that did not occur. */
export function milestonesOf(model, load) {
  return model.metrics.filter((metric) => metric.mark !== '')
    .map(({ key, name, mark }) => ({
      key, name, short: mark, time: load.metrics?.[key] ?? null,
    }))
    .filter((each) => each.time !== null)
    .sort((a, b) => a.time - b.time);
}

/** The conditions of a load, as text; empty if the result does not have them. */
export function configurationName(load) {
  const { browser, protocol, link, cache } = load.configuration ?? {};
  return [browser, protocol, link === 'none' ? 'no link' : link, cache].filter(Boolean).join(' · ');
}
