// Two rows of four tiles.
for (let row = 0; row < 2; ++row) {
  for (let column = 0; column < 4; ++column) {
    const tile = document.createElement("img");
    tile.alt = "";
    tile.src = `https://img.meadow.test/tiles/tile.png?row=${row}&column=${column}`;
    document.getElementById("tiles").append(tile);
  }
}
