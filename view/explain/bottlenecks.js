// The shares of the chosen slice: bars and a pie.
import { arc, pie } from 'd3-shape';

import { put, putFigure, section } from '../page/elements.js';
import { counted, msText, shown } from '../page/format.js';

import { putKindLink } from './controls.js';
import { sliceName } from './explanation.js';
import { kindPlace } from './place.js';
import { percentText, roughTime, topShares } from './words.js';

const RADIUS = 120;
const HOLE = 70;
const LABEL_PERCENT_MIN = 5;

export class Bottlenecks {
  constructor(explanation) {
    this.explanation = explanation;
    this.part = section('bottlenecks', 'Where the time goes');
    this.box = this.part.append('div');
  }

  show(slice) {
    this.box.selectAll('*').remove();
    this.putTiles(slice);
    const both = this.box.append('div').attr('class', 'shares');
    this.putBars(both, slice);
    this.putPie(both, slice);
    const notes = this.box.append('dl').attr('class', 'notes');
    put(notes, 'dt', '', 'Even share');
    put(notes, 'dd', '', 'Each moment is divided evenly among the calls that are active in it. '
      + 'The shares add up to the whole time.');
    put(notes, 'dt', '', 'Critical chain');
    put(notes, 'dd', '', 'The time that the view waited for this on the way from its start to its '
      + 'end. A different question: do not add the two.');
  }

  putTiles({ views, window_us: window }) {
    const tiles = this.box.append('dl').attr('class', 'tiles');
    for (const [name, text] of [['Views', views.toLocaleString('en')],
      ['Mean', roughTime(window.mean)], ['Median', roughTime(window.median)],
      ['90th percentile', roughTime(window.p90)], ['Fastest', roughTime(window.min)],
      ['Slowest', roughTime(window.max)]]) {
      const tile = tiles.append('div');
      put(tile, 'dt', '', name);
      put(tile, 'dd', '', text);
    }
  }

  putBars(parent, { shares }) {
    const made = parent.append('table').attr('class', 'bars');
    put(made, 'caption', 'unseen', 'Kinds of time by their share, mean of a view');
    const head = made.append('thead').append('tr');
    for (const name of ['Kind', 'Even share', 'Critical chain']) {
      put(head, 'th', '', name).attr('scope', 'col');
    }
    const most = Math.max(...shares.flatMap((each) => [each.percent, each.chain_percent]), 1);
    const body = made.append('tbody');
    for (const share of shares) {
      const kind = this.explanation.kindNamed.get(share.kind);
      const row = body.append('tr');
      putKindLink(row.append('th').attr('scope', 'row'), kind);
      const cell = (className, percent, us) => {
        const box = row.append('td').append('div').attr('class', `measure ${className}`);
        put(box.append('span').attr('class', 'groove').attr('aria-hidden', true), 'span',
          kind.colour).style('width', `${(100 * percent) / most}%`);
        put(box, 'b', '', percentText(percent));
        put(box, 'span', 'took', msText(us / 1000));
      };
      cell('even', share.percent, share.us);
      cell('along', share.chain_percent, share.chain_us);
    }
  }

  putPie(parent, slice) {
    const { views, window_us: window, shares } = slice;
    const svg = putFigure(parent, 'pie', 'Even share').insert('svg', 'figcaption')
      .attr('role', 'img')
      .attr('viewBox', `${-RADIUS} ${-RADIUS} ${2 * RADIUS} ${2 * RADIUS}`)
      .attr('aria-label', shown(`Even shares of ${sliceName(slice)}: ${topShares(shares, 8)}`));
    const shape = arc().innerRadius(HOLE).outerRadius(RADIUS - 1);
    const parts = pie().sort(null).value(({ us }) => us)(shares.filter(({ us }) => us > 0));
    for (const part of parts) {
      const { kind: name, percent, us } = part.data;
      const kind = this.explanation.kindNamed.get(name);
      // One part is a whole ring, which links draw as others do.
      const piece = svg.append('a').attr('href', kindPlace(name)).attr('tabindex', -1);
      put(piece.append('path').attr('class', `part ${kind.colour}`).attr('d', shape(part)), 'title',
        '', `${name}: ${percentText(percent)}, ${msText(us / 1000)}`);
      if (percent < LABEL_PERCENT_MIN) continue;
      const [x, y] = shape.centroid(part);
      put(piece, 'text', 'label', percentText(percent)).attr('x', x).attr('y', y)
        .attr('dy', '.35em');
    }
    put(svg, 'text', 'middle', roughTime(window.mean)).attr('y', 2);
    put(svg, 'text', 'under', views === 1 ? 'one view' : `mean of ${counted(views, 'view')}`)
      .attr('y', 20);
  }
}
