// The heads of one request, and what can be done with it.
import { curlCommand } from './curl.js';
import { put } from './elements.js';
import { counted } from './format.js';
import { fragmentOf } from './place.js';

/** A button that shows the command line of curl and copies it, and a link to the request. */
export function putActions(panel, load, request) {
  const actions = panel.append('p').attr('class', 'actions');
  const button = put(actions, 'button', 'copy', 'Copy as curl').attr('type', 'button');
  put(actions, 'a', '', 'Link to this request').attr('href', fragmentOf(load, request));
  const said = put(actions, 'output', 'hint', '');
  let command = null;
  button.node().addEventListener('click', async () => {
    // The command stays visible: a browser may refuse to copy, and a reader wants to see it.
    command ??= put(panel, 'pre', 'command', curlCommand(request)).attr('tabindex', 0);
    panel.node().insertBefore(command.node(), actions.node().nextSibling);
    try {
      await navigator.clipboard.writeText(command.text());
      said.text('Copied. The request’s body is not part of it.');
    } catch {
      window.getSelection().selectAllChildren(command.node());
      said.text('Selected: copy it with the keyboard.');
    }
  });
}

function putHead(box, title, head) {
  const part = box.append('details').attr('open', '');
  const summary = put(part, 'summary', '', `${title} `);
  put(summary, 'span', '', counted(head.fields.length, 'field'));
  put(part, 'p', 'start-line', head.line);
  const table = part.append('table').attr('aria-label', title);
  for (const [name, value] of head.fields) {
    const row = table.append('tr');
    put(row, 'th', '', name).attr('scope', 'row');
    put(row, 'td', '', value);
  }
}

export function putHeads(panel, { heads }) {
  if (!heads) return;
  const box = panel.append('div').attr('class', 'heads');
  if (heads.recorded) {
    put(box, 'p', 'hint', 'The heads are those of the recording, not of this load.');
  }
  putHead(box, 'Request head', heads.request);
  if (heads.response.line) putHead(box, 'Response head', heads.response);
}
