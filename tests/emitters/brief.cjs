// For middleware_cost_figure.py: a server that takes 1 ms and 20 calls for each request, on a free
// port, which it prints. usage: node brief.cjs [bare]: without the emitter
'use strict';

const http = require('node:http');
const { setTimeout: pause } = require('node:timers/promises');
const { handler, traceMethods } = require('../../emitters/node/trench.js');

const bare = process.argv[2] === 'bare';

class Database {
  query(item) { return item * 2; }
}
class Cart {
  constructor(database) { this.database = database; }

  async sum() {
    await pause(1);
    let sum = 0;
    for (let item = 0; item < 18; item += 1) sum += this.database.query(item);
    return sum;
  }
}
class Page {
  constructor(cart) { this.cart = cart; }

  async show() { return `sum ${await this.cart.sum()}\n`; }
}
if (!bare) for (const traced of [Database, Cart, Page]) traceMethods(traced, `shop.${traced.name}`);
const page = new Page(new Cart(new Database()));

const answer = async (request, response) => response.end(await page.show());
const server = http.createServer(bare ? answer : handler(answer));
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.on('end', () => process.exit()).resume();
