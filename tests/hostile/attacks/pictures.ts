import { gif, png } from '../../../plugins/apps/server/src/files/testing/pictures';
import { unfolding } from '../../forms/files/pictures';
import { formBody } from '../../forms/files/send';
import type { Message } from '../../support/send';
import type { Attack } from './attack';

/** A form for anonymous with a field of pictures and one of files. */
const block = { yaml: 'elements: { photo: { type: IMAGE }, file: { type: FILE } }\n', html: '{photo}{file}{_save}' };

const sent = (name: string, file: string, content: Buffer): Partial<Message> => ({
  path: '/site/@@apps/attack/blocks/{id}',
  headers: { accept: 'application/json', 'content-type': 'multipart/form-data; boundary=b' },
  body: formBody([
    { name, file, content },
    { name: '_save', content: '1' },
  ]),
});

const times = <T>(count: number, make: () => T): T[] => {
  const one = make();
  return Array.from({ length: count }, () => one);
};

/** Pictures of anonymous that cost the server a minute and gigabytes, where it decodes them itself. */
export const pictures: readonly Attack[] = [
  {
    name: 'pictures-too-large',
    block,
    requests: times(6, () => sent('photo', 'a.png', png(16_383, 16_383, { whole: true }))),
    status: 422,
    has: /at most 50,000,000 pixels/,
    short: true,
  },
  {
    name: 'pictures-of-each-kind',
    block,
    requests: unfolding.flatMap(([, content]) => times(3, () => sent('file', 'a', content))),
    status: 422,
    has: /at most 50,000,000 pixels/,
    within: 6_000,
  },
  // As large as is allowed: one after the other, and those of one app in half of the queue.
  {
    name: 'pictures-as-large-as-allowed',
    block,
    requests: times(16, () => sent('photo', 'a.png', png(7_071, 7_071, { whole: true }))),
    status: [201, 422, 503],
    within: 60_000,
  },
  {
    name: 'pictures-with-frames',
    block,
    requests: times(4, () => sent('photo', 'a.gif', gif(700, 700, 100))),
    status: [201, 422, 503],
    within: 60_000,
  },
];
