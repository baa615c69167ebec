if (!isDone()) {
  replaceToString();
  replaceStack();
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
