export interface StartOptions {
  /** Further arguments, such as ['--strict', '--link', 'wpt:4g', '--shaper', 'stream']. */
  args?: string[];
  /** The program. [$REPRISE, or reprise on PATH] */
  reprise?: string;
}

export interface Ending {
  /** 0, or 5 if --strict found a miss. */
  exitCode: number;
  /** Of a replay: hits, misses and more, as `--report` writes them. */
  report: {hits: number; misses: number; [member: string]: unknown} | null;
}

/** The addresses of a running reprise, and the launch options that lead browsers to it. */
export interface Session {
  /** ADDR:PORT; null if the listener is off. */
  readonly http: string | null;
  readonly https: string | null;
  readonly proxy: string | null;
  readonly dns: string | null;
  /** The certificate of the CA, a PEM file. */
  readonly ca: string;
  readonly chromiumFlags: string[];
  /** With --script-in browser, what the browser must run before each document; else null. */
  readonly script: string | null;
  readonly firefoxPreferences: Record<string, string | number | boolean>;

  /** For chromium.launch() of Playwright. */
  playwright<T extends {args?: string[]}>(options?: T): T & {args: string[]};
  /** For launch() of Puppeteer: Chromium, or Firefox with {browser: 'firefox'}. */
  puppeteer<T extends object>(options?: T): T & {args?: string[]};
  /** For remote() of WebdriverIO. */
  webdriverio<T extends object>(options?: T): T & {capabilities: Record<string, unknown>};
  /** Capabilities of WebDriver: Chrome's, or Firefox's with {browserName: 'firefox'}. */
  capabilities(given?: Record<string, unknown>): Record<string, unknown>;
  /** Ends reprise, unless it runs this process. */
  stop(): Promise<Ending>;
}

/** Serves from `archive`. Rejects if browsers cannot reach it, such as behind a packet link. */
export function startReplay(archive: string, options?: StartOptions): Promise<Session>;
/** Records into `archive`, which must not exist. Rejects as startReplay() does. */
export function startRecord(archive: string, options?: StartOptions): Promise<Session>;
/** The reprise that runs this process as its `-- COMMAND`, or null. */
export function fromEnvironment(environment?: Record<string, string | undefined>): Session | null;
/** Fixtures for test.extend() of @playwright/test: `reprise` and `launchOptions`. A worker whose
 *  replay fails, such as for a miss with --strict, fails. */
export function playwrightFixtures(archive: string, options?: StartOptions): any;
