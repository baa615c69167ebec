// The sightings of the county, served by the larkspur society's own host.
fetch("/v1/sightings?county=west&limit=3")
  .then((response) => response.json())
  .then((found) => {
    const list = document.getElementById("sightings");
    for (const each of found.sightings) {
      const item = document.createElement("li");
      item.textContent = `${each.count} ${each.species}, ${each.where}`;
      list.append(item);
    }
  });
