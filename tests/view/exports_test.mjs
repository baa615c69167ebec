import assert from 'node:assert';
import { execFileSync } from 'node:child_process';
import test from 'node:test';

import { curlCommand } from '../../view/page/curl.js';
import { csvOf, harOf } from '../../view/page/exports.js';
import { readModel, requestsOf } from '../../view/page/model.js';
import { request } from './request.mjs';

const heads = {
  request: {
    line: 'GET / h2',
    fields: [['Host', 'a.test'], ['Accept', "it's"], ['X-Empty', ''], ['@file', 'x']],
  },
  response: { line: 'h2 200 fine', fields: [['Location', '/next'], ['A', '1'], ['A', '2']] },
};

/** The arguments that a shell makes of a command line, without the first word. */
function argumentsOf(command) {
  const script = `set -- ${command}; shift; printf '%s\\0' "$@"`;
  return execFileSync('sh', ['-c', script]).toString().split('\0').slice(0, -1);
}

test('a command line of curl, as a shell reads it', () => {
  const url = "https://a.test/it's?a=$(touch x)&b=`c`[1]";
  assert.deepStrictEqual(argumentsOf(curlCommand(request({ url, method: 'POST', heads }))),
    ['--globoff', '--url', url, '--request', 'POST', '--http2', '--header', "Accept: it's",
      '--header', 'X-Empty;', '--compressed']);
  assert.deepStrictEqual(argumentsOf(curlCommand(request({ url: 'a\nb\u001b', protocol: '',
    heads: null }))),
  ['--globoff', '--url', 'a b\\u001b', '--compressed']);
  assert.deepStrictEqual(argumentsOf(curlCommand(request({ url: 'a', method: 'HEAD', protocol: '',
    heads: null }))), ['--globoff', '--url', 'a', '--head', '--compressed']);
});

test('CSV quotes what needs it, and nothing of a page is a formula', () => {
  const lines = csvOf([request({ url: 'a,"b"', type: '=1+1', start: 1.5, end: null })])
    .split('\r\n');
  assert.strictEqual(lines.length, 3);
  assert.match(lines[0], /^number,method,url,status,type,/);
  assert.match(lines[1], /^,GET,"a,""b""",200,'=1\+1,/);
});

test('a HAR has the phases of a request, whose sum is its time', () => {
  const timed = request({
    url: 'https://a.test/?a=1&b', heads, address: '[::1]:443', start: 10, dnsStart: 11, dnsEnd: 14,
    connectStart: 14, tlsStart: 20, connectEnd: 30, sendStart: 31, sendEnd: 32, firstByte: 50,
    end: 60,
  });
  const load = { final_url: 'https://a.test/', started_unix_ms: 1000,
    metrics: { load_event_ms: 70 } };
  const { log } = harOf(load, { requests: [timed], end: 100 }, '0.1.0');
  assert.deepStrictEqual(log.pages[0].pageTimings, { onContentLoad: -1, onLoad: 70 });
  const [entry] = log.entries;
  assert.deepStrictEqual(entry.timings,
    { blocked: 2, dns: 3, connect: 16, ssl: 10, send: 1, wait: 18, receive: 10 });
  assert.strictEqual(entry.time, 50);
  assert.strictEqual(entry.startedDateTime, '1970-01-01T00:00:01.010Z');
  assert.strictEqual(entry.serverIPAddress, '::1');
  assert.deepStrictEqual(entry.request.queryString,
    [{ name: 'a', value: '1' }, { name: 'b', value: '' }]);
  assert.deepStrictEqual(entry.response.headers.filter(({ name }) => name === 'A').length, 2);
  assert.strictEqual(entry.response.redirectURL, '/next');
  assert.strictEqual(entry.response.statusText, 'fine');
});

test('a load shows the heads of a recording on the same page, and says so', () => {
  const model = readModel(JSON.stringify({
    text_columns: ['url', 'method'],
    number_columns: [],
    texts: ['u', 'GET', 'GET / h2', 'Accept', '*/*', 'other'],
    loads: [
      { requests: [[0, 1, 0], [5, 1, 0]], traces: [], heads: [] },
      { requests: [[0, 1, 0]], traces: [], heads: [[0, [2, 3, 4], [2]]] },
    ],
  }));
  const [measured, recorded] = model.loads.map((load) => requestsOf(model, load));
  assert.deepStrictEqual(recorded[0].heads, {
    request: { line: 'GET / h2', fields: [['Accept', '*/*']] },
    response: { line: 'GET / h2', fields: [] },
    recorded: false,
  });
  assert.deepStrictEqual(measured[0].heads, { ...recorded[0].heads, recorded: true });
  assert.strictEqual(measured[1].heads, null);
});
