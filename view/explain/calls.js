// Selects, sorts and exports the calls of a slice. Pure.
import { wordsOf } from '../page/order.js';

/** The columns of the table and the file. */
export const COLUMNS = [
  { key: 'kind', name: 'Kind', isText: true },
  { key: 'name', name: 'Call', isText: true },
  { key: 'us', name: 'Even share' },
  { key: 'chain_us', name: 'Critical chain' },
  { key: 'count', name: 'Calls' },
  { key: 'longest_us', name: 'Longest' },
];
const FIELDS = ['kind', 'name', 'detail', 'us', 'percent', 'chain_us', 'count', 'longest_us',
  'bytes'];

/**
 * The calls of the kind `kind` (empty: any) whose kind, name and detail contain every word of
 * `text`, sorted by the column `sort`; equal ones stay in order.
 */
export function listedCalls(calls, { text = '', kind = '', sort = 'us', descending = true } = {}) {
  const hasWords = wordsOf(text);
  const way = descending ? -1 : 1;
  const compare = (a, b) => (typeof a === 'string' ? Number(a > b) - Number(a < b) : a - b);
  return calls.map((call, index) => ({ call, index }))
    .filter(({ call }) => (kind === '' || call.kind === kind)
      && hasWords(`${call.kind} ${call.name} ${call.detail}`))
    .sort((a, b) => way * compare(a.call[sort], b.call[sort]) || a.index - b.index)
    .map(({ call }) => call);
}

/**
 * As CSV (RFC 4180). A text that a spreadsheet would take as a formula gets an apostrophe in front,
 * which spreadsheets do not show.
 */
export function csvOf(calls) {
  const cell = (value) => {
    if (typeof value === 'number') return String(value);
    const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [FIELDS, ...calls.map((call) => FIELDS.map((field) => call[field]))]
    .map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}
