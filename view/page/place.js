// The address of a load or a request on the page: its fragment. Pure.

/**
 * `#load=3` is the third load on the page, `#input=2&load=3` the third of the second file;
 * `&request=12` its twelfth request. Returns { load, request } of the model, `request` an index or
 * null; null if there is no such load.
 */
export function placeAt(model, fragment) {
  const [, input, load, request] =
    /^#(?:input=(\d{1,6})&)?load=(\d{1,6})(?:&request=(\d{1,6}))?$/.exec(fragment) ?? [];
  const loads = input ? model.loads.filter((each) => each.input === input - 1) : model.loads;
  const found = loads[load - 1];
  return found ? { load: found, request: request ? request - 1 : null } : null;
}

/** The fragment of a load, or of one of its requests. */
export function fragmentOf(load, request = null) {
  return `#load=${load.index + 1}${request ? `&request=${request.index + 1}` : ''}`;
}
