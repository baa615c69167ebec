if (!isDone()) {
  replaceToString();
  replaceStack();
  if (isZoned) replaceZone();
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
