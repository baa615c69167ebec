// Loads $URL with one harness, led by the reprise that runs this, and prints the load event in ms.
// With --script-in browser, it runs the script before each document.
// usage: reprise replay ARCHIVE -- node load.cjs puppeteer|playwright|selenium|webdriverio|firefox|
//                                                lighthouse

const { pathToFileURL } = require('node:url');

const reprise = require('../../../harnesses/npm');

const { URL: page, CHROMIUM, CHROMEDRIVER, FIREFOX } = process.env;
const session = reprise.fromEnvironment();
const loadEvent = () => performance.getEntriesByType('navigation')[0].loadEventStart;
const LOAD_EVENT = `return (${loadEvent})()`;
// As `reprise load`: a browser that has started is left alone for half a second, and a page that is
// loaded for two, so that what it then fetches is fetched.
const settle = () => new Promise((resolve) => { setTimeout(resolve, 500); });
const quiet = () => new Promise((resolve) => { setTimeout(resolve, 2000); });
const viewport = { width: 1280, height: 800 };
const window = `--window-size=${viewport.width},${viewport.height}`;

const harnesses = {
  async puppeteer() {
    const browser = await require('puppeteer-core').launch(
      session.puppeteer({ executablePath: CHROMIUM, defaultViewport: viewport }));
    const tab = await browser.newPage();
    if (session.script) await tab.evaluateOnNewDocument(session.script);
    await settle();
    await tab.goto(page, { waitUntil: 'load' });
    await quiet();
    const ms = await tab.evaluate(loadEvent);
    await browser.close();
    return ms;
  },

  /** Puppeteer speaks WebDriver BiDi with Firefox. */
  async firefox() {
    const browser = await require('puppeteer-core').launch(
      session.puppeteer({
        browser: 'firefox', executablePath: FIREFOX, defaultViewport: viewport,
      }));
    const tab = await browser.newPage();
    if (session.script) await tab.evaluateOnNewDocument(session.script);
    await settle();
    await tab.goto(page, { waitUntil: 'load' });
    await quiet();
    const ms = await tab.evaluate(loadEvent);
    await browser.close();
    return ms;
  },

  async playwright() {
    const { chromium } = require('playwright');
    const browser = await chromium.launch(session.playwright({ executablePath: CHROMIUM }));
    const tab = await browser.newPage({ viewport });
    if (session.script) await tab.addInitScript(session.script);
    await settle();
    await tab.goto(page, { waitUntil: 'load' });
    await quiet();
    const ms = await tab.evaluate(loadEvent);
    await browser.close();
    return ms;
  },

  async selenium() {
    const { Builder } = require('selenium-webdriver');
    const chrome = require('selenium-webdriver/chrome');
    const capabilities = session.capabilities({
      'goog:chromeOptions': { binary: CHROMIUM, args: ['--headless', window] },
    });
    const driver = await new Builder().withCapabilities(capabilities)
      .setChromeService(new chrome.ServiceBuilder(CHROMEDRIVER)).build();
    if (session.script) {
      await driver.sendAndGetDevToolsCommand('Page.addScriptToEvaluateOnNewDocument',
        { source: session.script });
    }
    await settle();
    await driver.get(page);
    await quiet();
    const ms = await driver.executeScript(LOAD_EVENT);
    await driver.quit();
    return ms;
  },

  async webdriverio() {
    const { remote } = require('webdriverio');
    const driver = await remote(session.webdriverio({
      logLevel: 'error',
      capabilities: {
        'goog:chromeOptions': { binary: CHROMIUM, args: ['--headless', window] },
        'wdio:chromedriverOptions': { binary: CHROMEDRIVER },
      },
    }));
    if (session.script) await driver.addInitScript(new Function(session.script));
    await settle();
    await driver.url(page);
    await quiet();
    const ms = await driver.execute(LOAD_EVENT);
    await driver.deleteSession();
    return ms;
  },

  /** Its command line runs no script before a page; its function takes a tab of Puppeteer that does. */
  async lighthouse() {
    const { default: lighthouse } = await import(pathToFileURL(require.resolve('lighthouse')));
    const browser = await require('puppeteer-core').launch(
      session.puppeteer({ executablePath: CHROMIUM, defaultViewport: null, args: [window] }));
    const tab = await browser.newPage();
    if (session.script) await tab.evaluateOnNewDocument(session.script);
    const { lhr } = await lighthouse(page, {
      onlyCategories: ['performance'], throttlingMethod: 'provided', formFactor: 'desktop',
      screenEmulation: { ...viewport, mobile: false, deviceScaleFactor: 1, disabled: false },
    }, undefined, tab);
    await browser.close();
    return lhr.audits.metrics.details.items[0].observedLoad;
  },
};

harnesses[process.argv[2]]().then((ms) => console.log(JSON.stringify({ load_event_ms: ms })));
