// The photographs of the newest records, and how many records there are.
const gallery = document.querySelector(".gallery");
const { records } = window.meadow;
for (const record of records.filter((each) => each.photo)) {
  const figure = document.createElement("figure");
  const image = document.createElement("img");
  image.alt = "";
  image.src = `${gallery.dataset.photos}${record.photo}.png`;
  const caption = document.createElement("figcaption");
  caption.textContent = `${record.species}, ${record.place}`;
  figure.append(image, caption);
  gallery.append(figure);
}
document.querySelector(".records").textContent = `${records.length} records since March.`;
