/**
 * The limit: Koa and the database's driver, with prepared statements and nothing else. No rights, no checks of input.
 * Started by koa.mjs with a description of the database in BENCH_DATABASE.
 */
import { createRequire } from 'node:module';
import Koa from 'koa';
import { Liquid } from 'liquidjs';
import { page } from '../support/page.mjs';
import { openPostgres, openSqlite } from './koa-database.mjs';

const Router = createRequire(import.meta.url)('@koa/router');
const database = JSON.parse(process.env.BENCH_DATABASE);
const db = await (database.kind === 'sqlite' ? openSqlite : openPostgres)(database);

async function bodyOf(ctx) {
  const chunks = [];
  for await (const chunk of ctx.req) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

const liquid = new Liquid({ outputEscape: 'escape' });
const template = liquid.parse(page.body);
const frame = liquid.parse(page.layout.replace('{{ main }}', '{{ main | raw }}'));
const total = async (at) => (await db.get('notes', `n${at}`)).total;

const router = new Router();
router.get('/functions/none', (ctx) => {
  ctx.body = { total: 1 };
});
router.get('/functions/one', async (ctx) => {
  ctx.body = { total: await total(1) };
});
router.get('/functions/four', async (ctx) => {
  let sum = 0;
  for (const at of [1, 2, 3, 4]) sum += await total(at);
  ctx.body = { total: sum };
});
router.get('/page', async (ctx) => {
  const context = { portal: { title: 'Bench' }, request: { query: ctx.query } };
  ctx.body = await liquid.render(frame, { context, main: await liquid.render(template, { context }) });
});
router.get('/:name/search', async (ctx) => {
  ctx.body = await db.search(ctx.params.name, ctx.query.author, Number(ctx.query.above));
});
router.get('/:name/words', async (ctx) => {
  ctx.body = await db.words(ctx.params.name, ctx.query.word);
});
router.get('/:name/:id', async (ctx) => {
  ctx.body = await db.get(ctx.params.name, ctx.params.id);
});
router.post('/:name', async (ctx) => {
  ctx.status = 201;
  ctx.body = { id: await db.create(ctx.params.name, await bodyOf(ctx)) };
});
router.post('/:name/bulk', async (ctx) => {
  ctx.body = { total: await db.bulk(ctx.params.name, await bodyOf(ctx)) };
});
router.patch('/:name/:id', async (ctx) => {
  await db.retitle(ctx.params.name, ctx.params.id, (await bodyOf(ctx)).title);
  ctx.body = {};
});
router.post('/:name/:id/increment', async (ctx) => {
  await db.increment(ctx.params.name, ctx.params.id);
  ctx.body = {};
});

const server = new Koa().use(router.routes()).listen(0, '127.0.0.1');
server.once('listening', () => process.send({ url: `http://127.0.0.1:${server.address().port}` }));
process.on('disconnect', () => process.exit());
