// A shop of three layers with the Node emitter, on a free port, which it prints. A slow method is
// planted in it: shop.Tax.rate.
'use strict';

const http = require('node:http');
const { setTimeout: timeout } = require('node:timers/promises');
const { handler, trace, traceMethods } = require('../../../emitters/node/trench.js');

// Pauses count as long as they are meant to be, and all else a thousandth of its time: what a trace
// says does not depend on how busy the machine is.
let paused = 0;
const clock = () => paused + performance.now() / 1000;
async function pause(ms) {
  await timeout(ms);
  paused += ms;
}

class Database {
  async query() { await pause(2); }
}
class Tax {
  constructor(database) { this.database = database; }

  async of(item) {
    await this.database.query();
    return this.rate(item);
  }

  async rate() { await pause(300); }
}
class Cart {
  constructor(database) {
    this.database = database;
    this.tax = new Tax(database);
  }

  async show() {
    for (let item = 0; item < 3; item += 1) await this.database.query();
    await pause(240);
    await this.tax.of(1);
    await this.tax.of(2);
    await this.discount(12);
  }

  async discount(depth) {
    if (depth > 0) await trace(`shop.Discount.level${depth}`, () => this.discount(depth - 1));
    else await pause(5);
  }
}
for (const traced of [Database, Tax, Cart]) traceMethods(traced, `shop.${traced.name}`);
const cart = new Cart(new Database());

const server = http.createServer(handler(async (request, response) => {
  if (request.url === '/cart') await cart.show();
  if (request.url === '/many') {
    for (let i = 0; i < 400; i += 1) trace(`shop.Part.number${i}`, () => 0);
  }
  response.setHeader('Content-Type', 'text/html');
  response.end('<!doctype html><title>shop</title>');
}, { clock }));
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.on('end', () => process.exit()).resume();
