'use strict';

// Starts `reprise replay` or `reprise record` beside a harness, and says how browsers reach it.

const { spawn } = require('node:child_process');
const { once } = require('node:events');
const readline = require('node:readline');

const STDERR_KEPT = 64 * 1024; // characters, for error messages
const UNREACHABLE = 'browsers cannot reach reprise: its listeners are off. Behind a packet link ' +
  'only the command reaches it: add --shaper stream, or run the harness as -- COMMAND';

/** Where a browser reaches a listener; at a wildcard address, over loopback. */
function endpoint(address) {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[|\]$/g, '');
  const isAny = host === '0.0.0.0' || host === '::';
  return { host: isAny ? '127.0.0.1' : host, port: Number(address.slice(colon + 1)) };
}

/** The addresses of a running reprise, and the launch options that lead browsers to it. */
class Session {
  /** @param {object} ready  As reprise writes it: http, https, proxy, dns, ca_file,
   *                          chromium_flags; and script, with --script-in browser. */
  constructor(ready, run = null) {
    this.http = ready.http || null;
    this.https = ready.https || null;
    this.proxy = ready.proxy || null;
    this.dns = ready.dns || null;
    this.ca = ready.ca_file;
    this.chromiumFlags = ready.chromium_flags;
    this.script = ready.script || null; // to run before each document
    this.firefoxH3 = ready.firefox_prefs || {}; // what HTTP/3 needs; empty: none
    this.#run = run;
  }

  #run;

  /** For chromium.launch() of Playwright. */
  playwright(options = {}) {
    return { ...options, args: this.#with(options.args) };
  }

  /** For launch() of Puppeteer: Chromium, or Firefox with {browser: 'firefox'}. */
  puppeteer(options = {}) {
    if (options.browser !== 'firefox') return { ...options, args: this.#with(options.args) };
    const extraPrefsFirefox = { ...this.firefoxPreferences, ...options.extraPrefsFirefox };
    return { ...options, acceptInsecureCerts: true, extraPrefsFirefox };
  }

  /** For remote() of WebdriverIO, and for `capabilities` in wdio.conf.js. */
  webdriverio(options = {}) {
    return { ...options, capabilities: this.capabilities(options.capabilities) };
  }

  /** Capabilities of WebDriver: Chrome's, or Firefox's with {browserName: 'firefox'}. */
  capabilities(given = {}) {
    if (given.browserName === 'firefox') {
      const options = given['moz:firefoxOptions'] || {};
      const prefs = { ...this.firefoxPreferences, ...options.prefs };
      return { ...given, acceptInsecureCerts: true, 'moz:firefoxOptions': { ...options, prefs } };
    }
    const options = given['goog:chromeOptions'] || {};
    return {
      browserName: 'chrome',
      ...given,
      'goog:chromeOptions': { ...options, args: this.#with(options.args) },
    };
  }

  /** Preferences that lead Firefox to reprise. Trust is not among them: accept insecure
   *  certificates, or add `ca` to the profile. */
  get firefoxPreferences() {
    const preferences = {
      'app.normandy.enabled': false,
      'browser.region.network.url': '',
      'browser.safebrowsing.downloads.enabled': false,
      'browser.safebrowsing.malware.enabled': false,
      'browser.safebrowsing.phishing.enabled': false,
      'datareporting.policy.dataSubmissionEnabled': false,
      'dom.push.connection.enabled': false,
      'dom.security.https_first': false,
      'network.captive-portal-service.enabled': false,
      'network.connectivity-service.enabled': false,
      'network.http.http3.enable': Object.keys(this.firefoxH3).length > 0,
      ...this.firefoxH3,
      'network.lna.blocking': false,
      'network.lna.enabled': false,
      'network.proxy.type': 0, // not a proxy that the environment names
      'network.trr.mode': 5,
      'security.OCSP.enabled': 0,
      'services.settings.server': 'http://127.0.0.1:1',
    };
    const forced = [[80, this.http], [443, this.https]].filter(([, address]) => address);
    if (forced.length > 0) {
      preferences['network.dns.forceResolve'] = endpoint(this.https || this.http).host;
      preferences['network.socket.forcePort'] =
        forced.map(([from, address]) => `${from}=${endpoint(address).port}`).join(';');
    } else if (this.proxy) {
      const { host, port } = endpoint(this.proxy);
      Object.assign(preferences, {
        'network.proxy.type': 1,
        'network.proxy.http': host,
        'network.proxy.http_port': port,
        'network.proxy.ssl': host,
        'network.proxy.ssl_port': port,
        'network.proxy.allow_hijacking_localhost': true,
        'network.proxy.no_proxies_on': '',
      });
    }
    return preferences;
  }

  /** Ends reprise. Resolves to its exit code and, of a replay, its report. */
  async stop() {
    return this.#run ? this.#run.stop() : { exitCode: 0, report: null };
  }

  #with(args = []) {
    return [...this.chromiumFlags, ...args];
  }
}

/** The process. It ends when its standard input does: also when this process is killed. It prints
 *  its addresses as one line, and the report of a replay as another. */
class Run {
  constructor(mode, archive, { reprise = process.env.REPRISE || 'reprise', args = [] }) {
    const outputs = ['--ready-file', '-'];
    if (mode === 'replay') outputs.push('--report', '-');
    const target = mode === 'replay' ? [archive] : ['-o', archive];
    this.#child = spawn(reprise, [mode, ...outputs, ...args, ...target, '--', 'cat']);
    this.#child.stdin.on('error', () => {}); // it has ended
    this.#child.stderr.on('data', (data) => {
      this.#said = (this.#said + data).slice(-STDERR_KEPT);
    });
    this.#ended = once(this.#child, 'close');
    this.#ended.catch(() => {}); // ready() reports it
    this.#lines = readline.createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  #child;
  #ended;
  #lines;
  #said = '';

  /** What reprise prints once it accepts connections. */
  async ready() {
    const { done, value } = await this.#lines.next();
    if (!done) return JSON.parse(value);
    await this.#ended; // rejects if there is no program
    throw this.failure();
  }

  /** Once it has ended. */
  failure() {
    return new Error(`reprise ended with exit status ${this.#child.exitCode}: ${this.#said}`);
  }

  async stop() {
    this.#child.stdin.end();
    const { done, value } = await this.#lines.next();
    await this.#ended;
    return { exitCode: this.#child.exitCode ?? 128, report: done ? null : JSON.parse(value) };
  }
}

/** Rejects, and ends the run, if no listener is open: a browser would load the live site. */
async function sessionOf(run) {
  const ready = await run.ready();
  if (ready.http || ready.https || ready.proxy) return new Session(ready, run);
  await run.stop();
  throw new Error(UNREACHABLE);
}

async function start(mode, archive, options = {}) {
  return sessionOf(new Run(mode, archive, options));
}

/** Serves from `archive`. Options: `args`, further arguments of `reprise replay`; `reprise`, the
 *  program [$REPRISE, or reprise on PATH]. Rejects if browsers cannot reach it, such as behind a
 *  packet link. */
function startReplay(archive, options) {
  return start('replay', archive, options);
}

/** Records into `archive`, which must not exist. Options as for startReplay(). */
function startRecord(archive, options) {
  return start('record', archive, options);
}

/** The reprise that runs this process as its `-- COMMAND`, or null. */
function fromEnvironment(environment = process.env) {
  const flags = environment.REPRISE_CHROMIUM_FLAGS_JSON;
  if (!flags) return null;
  return new Session({
    http: environment.REPRISE_HTTP,
    https: environment.REPRISE_HTTPS,
    proxy: environment.REPRISE_PROXY,
    dns: environment.REPRISE_DNS,
    ca_file: environment.REPRISE_CA,
    chromium_flags: JSON.parse(flags),
    script: environment.REPRISE_SCRIPT,
  });
}

/** Fixtures for test.extend() of @playwright/test: `reprise`, the session of each worker, and
 *  launch options that lead Chromium to it. The worker fails if its replay does, such as for a miss
 *  with --strict. */
function playwrightFixtures(archive, options = {}) {
  return {
    reprise: [
      // eslint-disable-next-line no-empty-pattern
      async ({}, use) => {
        const outer = fromEnvironment();
        const run = outer ? null : new Run('replay', archive, options);
        const session = outer ?? (await sessionOf(run));
        await use(session);
        const { exitCode } = await session.stop();
        if (exitCode !== 0) throw run.failure();
      },
      { scope: 'worker' },
    ],
    launchOptions: [
      async ({ reprise, launchOptions }, use) => use(reprise.playwright(launchOptions)),
      { scope: 'worker' },
    ],
  };
}

module.exports = { startReplay, startRecord, fromEnvironment, playwrightFixtures };
