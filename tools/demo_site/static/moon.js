// Draws tonight's moon. The date reaches pixels only: a canvas is no part of the document's text.
(() => {
  const synodicDays = 29.530588853;
  const newMoon = Date.UTC(2000, 0, 6, 18, 14);
  const age = ((Date.now() - newMoon) / 86400000) % synodicDays;
  const lit = 1 - Math.abs(1 - (2 * age) / synodicDays);
  const canvas = document.getElementById("moon");
  const paint = canvas.getContext("2d");
  paint.fillStyle = "#20304a";
  paint.fillRect(0, 0, 96, 96);
  for (let star = 0; star < 12; ++star) {
    paint.fillStyle = "#fff";
    paint.fillRect(Math.random() * 96, Math.random() * 96, 1, 1);
  }
  paint.fillStyle = "#f4efd6";
  paint.beginPath();
  paint.ellipse(48, 48, 36 * lit, 36, 0, 0, 2 * Math.PI);
  paint.fill();
})();
