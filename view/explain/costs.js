// What each host, entity, script, and header or setting costs the chosen slice.
import { choice, put, section, table } from '../page/elements.js';
import { bytesText, counted, msText } from '../page/format.js';

import { costsBy } from './explanation.js';
import { costsNote, percentText } from './words.js';

const FIRST = 15; // rows; more only when asked for
const CAUSES = [['host', 'Host'], ['entity', 'Owner'], ['script', 'Script'],
  ['setting', 'Header or setting']];
const MEASURES = [['us', 'Time'], ['processor_us', 'Processor'], ['bytes', 'Bytes'],
  ['requests', 'Requests']];
const msOf = (us) => (us > 0 ? msText(us / 1000) : '');
const countOf = (count) =>
  (count > 0 ? count.toLocaleString('en', { maximumFractionDigits: 2 }) : '');
const COLUMNS = [
  { name: '', text: ({ name }) => name },
  { name: 'Even share', number: true,
    text: ({ us, percent }) => `${msText(us / 1000)} · ${percentText(percent)}` },
  { name: 'Processor', text: ({ processor_us: us }) => msOf(us), number: true },
  { name: 'Bytes', text: ({ bytes }) => (bytes > 0 ? bytesText(bytes) : ''), number: true },
  { name: 'Requests', text: ({ requests }) => countOf(requests), number: true },
];

export class Costs {
  constructor() {
    this.state = { cause: 'host', measure: 'us' };
    this.part = section('costs', 'What costs most');
    this.note = put(this.part, 'p', 'said', '');
    const controls = this.part.append('div').attr('class', 'controls');
    choice(controls, 'cost-cause', 'Causes', CAUSES, 'host', (cause) => this.change({ cause }));
    choice(controls, 'cost-measure', 'Ranked by', MEASURES, 'us',
      (measure) => this.change({ measure }));
    this.box = this.part.append('div');
    this.more = this.part.append('button').attr('type', 'button').attr('class', 'more');
    this.more.node().addEventListener('click', () => this.draw(Infinity));
  }

  show(slice) {
    this.slice = slice;
    this.draw(FIRST);
  }

  change(to) {
    Object.assign(this.state, to);
    this.draw(FIRST);
  }

  draw(most) {
    const { cause, measure } = this.state;
    const costs = costsBy(this.slice, cause, measure);
    const [, title] = CAUSES.find(([key]) => key === cause);
    this.note.text(costsNote(cause));
    this.box.selectAll('*').remove();
    const shown = costs.slice(0, most);
    if (shown.length > 0) {
      table(this.box, `${counted(costs.length, 'cause')}: ${title.toLowerCase()}`, COLUMNS, shown);
    } else {
      put(this.box, 'p', 'hint', 'The inputs do not tell.');
    }
    this.more.attr('hidden', shown.length === costs.length ? '' : null)
      .text(`Show all ${costs.length}`);
  }
}
