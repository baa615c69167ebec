if (!isDone()) {
  replaceToString();
  replaceZone();
  replaceDate();
  replaceIntl();
  replaceTemporal();
  replacePerformance();
  replaceRandom();
  replaceStorage();
  replaceWorkers();
  replaceFrames();
}
