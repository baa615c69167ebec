// Files that the page saves.
import { put } from './elements.js';

/** A button that saves `content()` as a file. */
export function putFile(parent, text, name, type, content) {
  const button = put(parent, 'button', 'save', text).attr('type', 'button')
    .attr('title', `Save as ${name}`);
  button.node().addEventListener('click', () => {
    const address = URL.createObjectURL(new Blob([content()], { type }));
    const link = document.createElement('a');
    link.href = address;
    link.download = name;
    link.click();
    // The browser has begun to read it by the next turn.
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  });
}
