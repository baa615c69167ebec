// The flowers. Their pictures are asked for in a random order, and each lands in its own place.
function shuffled(list) {
  const copy = [...list];
  for (let i = copy.length - 1; i > 0; --i) {
    const j = Math.floor(Math.random() * (i + 1));
    [copy[i], copy[j]] = [copy[j], copy[i]];
  }
  return copy;
}

function card(flower) {
  const figure = document.createElement("figure");
  const image = document.createElement("img");
  image.alt = "";
  const caption = document.createElement("figcaption");
  const latin = document.createElement("i");
  latin.textContent = flower.latin;
  caption.append(flower.name, latin);
  figure.append(image, caption);
  return { image, figure, source: `https://img.meadow.test/flowers/${flower.id}.png` };
}

export async function showCatalogue(place) {
  const response = await fetch(place.dataset.catalogue);
  const cards = (await response.json()).flowers.map(card);
  place.append(...cards.map((each) => each.figure));
  for (const each of shuffled(cards)) each.image.src = each.source;
}
