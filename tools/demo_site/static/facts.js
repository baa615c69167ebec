// One line each about the season and the reader's checklist, with what to say when it is not there.
export async function showSeason(place) {
  const season = await (await fetch(place.dataset.season)).json();
  const past = await fetch(`${place.dataset.season}/1911`);
  place.textContent =
    `${season.name}: ${season.species} species so far. ` +
    (past.ok ? "" : `The records of 1911 are lost (${past.status}).`);
}

export async function showChecklist(place) {
  const list = await (await fetch(place.dataset.checklist)).json();
  const seen = list.species.filter((species) => species.seen).length;
  place.textContent = `Checklist: ${seen} of ${list.species.length} ticked.`;
}
