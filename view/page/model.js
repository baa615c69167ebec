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

/** The requests of a load as objects, in the order in which they were sent. */
export function requestsOf(model, load) {
  const { textFields, numberFields, texts } = model;
  const traces = new Map(load.traces);
  return load.requests.map((row, index) => {
    const request = { index };
    let at = 0;
    for (const field of textFields) request[field] = texts[row[at++]];
    for (const field of numberFields) request[field] = row[at++];
    request.fromCache = row[at] === 1;
    request.trace = traces.get(index) ?? null; // its JSON, or why there is none
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
