// The front page's script: each part fills the element that names its source.
import { showCatalogue } from "./catalogue.js";
import { showNotes } from "./notes.js";
import { showChecklist, showSeason } from "./facts.js";
import { sendVisit } from "./visit.js";

const started = Date.now();

await Promise.all([
  showCatalogue(document.querySelector("[data-catalogue]")),
  showNotes(document.querySelector("[data-notes]")),
  showSeason(document.querySelector("[data-season]")),
  showChecklist(document.querySelector("[data-checklist]")),
]);
await sendVisit(document.querySelector("[data-visit]"));

// Kept in the page's timeline, where neither the document nor a request shows it.
performance.mark("meadow", { detail: { took_ms: Date.now() - started, luck: Math.random() } });
document.body.dataset.state = "complete";
