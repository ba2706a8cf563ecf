/**
 * The servers, by the name of `--servers`. Each has
 * `title`, `databases`, `settings` and `version()` for the report;
 * `start({database, folder, command, names})`, which starts it with the records of the named collections and returns
 * `{url, pid, requests, stop}`, `requests` by scenario. It throws when the server cannot run; the message goes into the report.
 */
import { directus } from './directus.mjs';
import { koa } from './koa.mjs';
import { parse } from './parse.mjs';
import { kept, plugin } from './plugin.mjs';
import { strapi } from './strapi.mjs';

export const servers = { plugin, kept, parse, strapi, directus, koa };
