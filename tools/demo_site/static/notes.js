// The field notes: one JSON object a line, shown as the lines arrive.
export async function showNotes(list) {
  const response = await fetch(list.dataset.notes);
  const lines = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    const { value, done } = await lines.read();
    if (done) return;
    held += value;
    for (let end = held.indexOf("\n"); end >= 0; end = held.indexOf("\n")) {
      const note = JSON.parse(held.slice(0, end));
      held = held.slice(end + 1);
      const item = document.createElement("li");
      item.textContent = `${note.place}: ${note.text}`;
      list.append(item);
    }
  }
}
