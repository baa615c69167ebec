if (!isDone()) {
  replaceToString();
  replaceDate();
  replaceIntl();
  replaceTemporal();
  replacePerformance();
  replaceRandom();
  replaceStorage();
  replaceWorkers();
  replaceFrames();
}
