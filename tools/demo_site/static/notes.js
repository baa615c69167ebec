// The field notes: one JSON object a line, shown as the lines arrive. Not by fetch(): Chromium
// reports a fetch whose stream was read to its end as aborted, and its body cannot be compared.
export function showNotes(list) {
  const request = new XMLHttpRequest();
  let shown = 0;
  request.onprogress = () => {
    for (let end; (end = request.responseText.indexOf("\n", shown)) >= 0; shown = end + 1) {
      const note = JSON.parse(request.responseText.slice(shown, end));
      const item = document.createElement("li");
      item.textContent = `${note.place}: ${note.text}`;
      list.append(item);
    }
  };
  request.open("GET", list.dataset.notes);
  request.send();
  return new Promise((resolve, reject) => {
    request.onload = resolve;
    request.onerror = reject;
  });
}
