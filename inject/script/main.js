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
  replaceHeaders();
  replaceWorkers();
  replaceFrames();
}
