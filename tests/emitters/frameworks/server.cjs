// A server of `express` or `fastify` with the Node emitter, on a free port, which it
// prints.
'use strict';

const { fastify: plugin, middleware, trace } = require('../../../emitters/node/trench.js');

const page = () => trace('shop.Page.show', async () => {
  await Promise.all([trace('shop.Db.query', () => new Promise(setImmediate)),
    trace('shop.Db.query', () => 0)]);
  return trace('shop.View.render', () => ({ hello: 'world' }));
});
const printPort = (server) => console.log(server.address().port);

if (process.argv[2] === 'express') {
  const app = require('express')();
  app.use(middleware());
  app.get('/page', async (request, response) => response.json(await page()));
  app.get('/broken', () => trace('shop.Page.fail', () => { throw new Error('planned'); }));
  app.get('/many', (request, response) => {
    for (let i = 0; i < 400; i += 1) trace(`shop.Part.number${i}`, () => 0);
    response.send('many');
  });
  const server = app.listen(0, '127.0.0.1', () => printPort(server));
} else {
  const app = require('fastify')();
  app.register(plugin);
  app.get('/page', async () => page());
  app.get('/broken', async () => trace('shop.Page.fail', () => { throw new Error('planned'); }));
  app.get('/many', async () => {
    for (let i = 0; i < 400; i += 1) trace(`shop.Part.number${i}`, () => 0);
    return 'many';
  });
  app.listen({ port: 0, host: '127.0.0.1' }).then(() => printPort(app.server));
}
process.stdin.on('end', () => process.exit()).resume();
