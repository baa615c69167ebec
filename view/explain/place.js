// The links into the page (#kind=ads, #point=17) and to that of `reprise view`. Pure.

export const kindPlace = (name) => `#kind=${encodeURIComponent(name)}`;
/** Points count from 1. */
export const pointPlace = (point) => `#point=${point.index + 1}`;

/** The address of a point's load in the page of `reprise view`; empty if that does not show it. */
export function loadPlace({ inputs, view }, { input, load }) {
  const place = inputs[input].in_view;
  return view && place ? `${view}#input=${place}&load=${load}` : '';
}

/** { kind } or { point } that the fragment names, or {}. */
export function placeOf(explanation, fragment) {
  const [, what, text] = /^#(kind|point)=(.*)$/.exec(fragment) ?? [];
  if (what === 'point') {
    return /^\d{1,9}$/.test(text) ? { point: explanation.points[text - 1] } : {};
  }
  if (what !== 'kind') return {};
  try {
    return { kind: explanation.kindNamed.get(decodeURIComponent(text)) };
  } catch {
    return {}; // a percent sign that encodes nothing
  }
}
