import { beforeAll, describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';
import { html } from '../../support/stage';
import { runTable } from '../../support/table';

export function jsonOrPage(stage: Stage): void {
  describe('JSON or page', () => {
    beforeAll(() => stage.put('open', 'shown', { title: 'Shown <b>' }));
    runTable(stage, [
      {
        title: 'an Accept of JSON gives JSON',
        send: 'GET open/record/shown',
        status: 200,
        is: { title: 'Shown <b>', id: 'shown' },
      },
      {
        title: 'an Accept of JSON among others gives JSON',
        send: 'GET open/record/shown',
        accept: 'text/html, application/json;q=0.1',
        status: 200,
        gives: { id: 'shown' },
      },
      {
        title: 'a Content-Type of JSON gives JSON',
        send: 'GET open/record/shown',
        accept: '*/*',
        headers: { 'content-type': 'application/json' },
        status: 200,
        gives: { id: 'shown' },
      },
      {
        title: 'an Accept of HTML gives a page',
        send: 'GET open/record/shown',
        accept: html,
        status: 200,
        has: ['Shown &lt;b&gt;'],
        lacks: ['Shown <b>'],
        answers: { 'content-type': /text\/html/ },
      },
      {
        title: 'an Accept of anything gives a page',
        send: 'GET open/record/shown',
        accept: '*/*',
        status: 200,
        answers: { 'content-type': /text\/html/ },
      },
      {
        title: 'a listing is JSON for a browser',
        send: 'GET open/records',
        accept: html,
        status: 200,
        answers: { 'content-type': /json/ },
      },
      {
        title: 'a search is JSON for a browser',
        send: 'POST open/search',
        json: {},
        accept: html,
        status: 200,
        answers: { 'content-type': /json/ },
      },
      {
        title: 'a block is a page for a browser',
        send: 'GET open/blocks/note',
        accept: html,
        status: 200,
        answers: { 'content-type': /text\/html/ },
      },
      {
        title: 'a block is JSON for a client of JSON',
        send: 'GET open/blocks/note',
        status: 200,
        answers: { 'content-type': /application\/json/ },
      },
      { title: 'a block is not offered as a picture', send: 'GET open/blocks/note', accept: 'image/png', status: 406 },
      {
        title: 'an error is JSON for a client of JSON',
        send: 'GET open/record/absent',
        status: 404,
        error: 'NotFoundError',
      },
      {
        title: 'an error is a page for a browser',
        send: 'GET open/record/absent',
        accept: html,
        status: 404,
        answers: { 'content-type': /text\/html/ },
      },
      {
        title: 'an error page escapes the address',
        send: 'GET open/record/%3Cscript%3E',
        accept: html,
        status: 404,
        lacks: ['<script>'],
      },
    ]);
    test('caches keep JSON and pages apart', async () => {
      for (const accept of ['application/json', html]) {
        const { headers } = await stage.send({ send: 'GET open/record/shown', accept });
        expect(headers.vary).toMatch(/Accept/);
      }
    });
  });
}
