import { formBody, type Part, pdf, png } from './send';

const zip = (entry: string) =>
  Buffer.concat([Buffer.from('PK\x03\x04\x14\0\0\0\0\0', 'latin1'), Buffer.alloc(20), Buffer.from(entry)]);

/** What is wrong with a file, or the name and type under which it is stored. */
export const hostile: [what: string, part: Part | Part[], answer: RegExp | { name: string; mime: string }][] = [
  ['HTML', { name: 'cv', file: 'a.html', type: 'text/plain', content: '<html><script>alert(1)</script>' }, /not taken/],
  ['HTML as text', { name: 'cv', file: 'a.txt', content: 'hello <b onclick=alert(1)>' }, /not taken/],
  ['HTML as PDF', { name: 'cv', file: 'a.pdf', type: 'application/pdf', content: '<!doctype html>' }, /not taken/],
  ['HTML after spaces', { name: 'cv', file: 'a.txt', content: `${' '.repeat(3000)}<script>` }, /not taken/],
  ['HTML with a byte order mark', { name: 'cv', file: 'a.txt', content: '\ufeff<svg onload=alert(1)>' }, /not taken/],
  ['UTF-16 HTML', { name: 'cv', file: 'a.txt', content: Buffer.from('\ufeff<script>', 'utf16le') }, /not taken/],
  [
    'SVG with a script',
    {
      name: 'photo',
      file: 'a.svg',
      type: 'image/svg+xml',
      content: '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    },
    /not taken/,
  ],
  ['SVG as PNG', { name: 'photo', file: 'a.png', type: 'image/png', content: '<svg/>' }, /not taken/],
  ['SVG after XML', { name: 'more', file: 'a.xml', content: '<?xml version="1.0"?><svg/>' }, /not taken/],
  ['a script', { name: 'more', file: 'a.sh', content: '#!/bin/sh\nrm -rf /' }, /not taken/],
  ['a program', { name: 'more', file: 'a.exe', content: Buffer.from('MZ\x90\0\x03\0', 'latin1') }, /not taken/],
  ['a program of Linux', { name: 'more', file: 'a', content: Buffer.from('\x7fELF\x02\x01', 'latin1') }, /not taken/],
  ['a class', { name: 'more', file: 'a.class', content: Buffer.from('\xca\xfe\xba\xbe\0\0', 'latin1') }, /not taken/],
  ['bytes of no type', { name: 'more', file: 'a.pdf', content: Buffer.from([1, 2, 3, 0, 255]) }, /not taken/],
  ['no bytes', { name: 'cv', file: 'a.pdf', content: '' }, /empty/],
  ['too many bytes', { name: 'cv', file: 'a.txt', content: 'x'.repeat(100 * 1024 + 1) }, /larger than 100 kB/],
  ['a type that is not accepted', { name: 'cv', file: 'a.png', content: png }, /not taken here: a\.png/],
  ['a PDF as image', { name: 'photo', file: 'a.png', type: 'image/png', content: pdf }, /not taken here/],
  ['a broken image', { name: 'photo', file: 'a.png', content: png.subarray(0, 20) }, /picture cannot be read: a\.png/],
  [
    'two files for one',
    [
      { name: 'cv', file: 'a.txt', content: 'a' },
      { name: 'cv', file: 'b.txt', content: 'b' },
    ],
    /one file only/,
  ],
  ['21 files', Array.from({ length: 21 }, (_, n) => ({ name: 'more', file: `${n}.txt`, content: 'x' })), /at most 20/],
  [
    '200 files',
    Array.from({ length: 200 }, (_, n) => ({ name: 'more', file: `${n}.txt`, content: 'x' })),
    /at most 20/,
  ],
  ['a stored file of others', { name: 'cv', content: 'kept:../../../etc/passwd' }, /no longer there/],
  ['a token that was never given', { name: 'cv', content: `kept:${'a'.repeat(32)}` }, /no longer there/],
  [
    'GIF with JavaScript',
    { name: 'more', file: 'a.js', content: 'GIF89a/*<script>*/=1;alert(1)' },
    /picture cannot be read: a\.js/,
  ],
  [
    'PDF with HTML',
    { name: 'cv', file: 'a.html', content: '%PDF-1.4\n<html><script>alert(1)</script>' },
    { name: 'a.pdf', mime: 'application/pdf' },
  ],
  [
    'JPEG with PHP',
    { name: 'more', file: 'a.php', content: Buffer.concat([Buffer.from([255, 216, 255]), Buffer.from('<?php ?>')]) },
    /picture cannot be read: a\.php/,
  ],
  [
    'ZIP with a document',
    { name: 'cv', file: 'a.docx', content: zip('word/document.xml') },
    { name: 'a.docx', mime: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document' },
  ],
  [
    'a PDF said to be HTML',
    { name: 'cv', file: 'a.pdf', type: 'text/html', content: pdf },
    { name: 'a.pdf', mime: 'application/pdf' },
  ],
  ['a path', { name: 'cv', file: '../../../etc/passwd', content: 'x' }, { name: 'passwd.txt', mime: 'text/plain' }],
  ['a path of Windows', { name: 'cv', file: 'C:\\\\x\\\\y.txt', content: 'x' }, { name: 'y.txt', mime: 'text/plain' }],
  ['a name with NUL', { name: 'cv', file: 'a.pdf\0.txt', content: 'x' }, { name: 'a pdf.txt', mime: 'text/plain' }],
  [
    'a name that reads backwards',
    { name: 'cv', file: 'a\u202Etxt.exe', content: 'x' },
    { name: 'a txt.txt', mime: 'text/plain' },
  ],
  [
    'a name with tags',
    { name: 'cv', file: '<img src=x onerror=alert(1)>.txt', content: 'x' },
    { name: 'img src x onerror alert(1).txt', mime: 'text/plain' },
  ],
  ['a name of dots', { name: 'cv', file: '....', content: 'x' }, { name: 'file.txt', mime: 'text/plain' }],
  ['a device', { name: 'cv', file: 'CON.txt', content: 'x' }, { name: 'file-CON.txt', mime: 'text/plain' }],
  ['a hidden file', { name: 'cv', file: '.htaccess', content: 'x' }, { name: 'file.txt', mime: 'text/plain' }],
  [
    'a long name',
    { name: 'cv', file: `${'n'.repeat(3000)}.txt`, content: 'x' },
    { name: `${'n'.repeat(100)}.txt`, mime: 'text/plain' },
  ],
  [
    'a name with full-width dots',
    { name: 'cv', file: '\uff0e\uff0e\u2215x.txt', content: 'x' },
    { name: '\uff0e\uff0e\u2215x.txt', mime: 'text/plain' },
  ],
  ['a combined letter', { name: 'cv', file: 'e\u0301.txt', content: 'x' }, { name: '\u00e9.txt', mime: 'text/plain' }],
  [
    'a broken emoji',
    { name: 'cv', file: `${'n'.repeat(99)}\u{1f600}.txt`, content: 'x' },
    { name: `${'n'.repeat(99)}.txt`, mime: 'text/plain' },
  ],
  ['two endings', { name: 'cv', file: 'a.php.txt', content: 'x' }, { name: 'a php.txt', mime: 'text/plain' }],
  [
    'a format string',
    { name: 'cv', file: '%s%n${x}{{y}}.txt', content: 'x' },
    { name: 's n x y.txt', mime: 'text/plain' },
  ],
];

export const file: Part = { name: 'cv', file: 'a.txt', content: 'x' };
/** Bodies of forms, and the status that answers them. */
export const broken: [what: string, body: Buffer | string, status: number][] = [
  ['a body without an end', formBody([file]).subarray(0, -6), 400],
  ['a body that ends in a file', formBody([file]).subarray(0, -12), 400],
  ['no parts', '', 200],
  ['text that is no form', 'hello', 400],
  ['another boundary', formBody([file], 'c'), 400],
  ['a file under the name of a text', formBody([{ ...file, name: 'name' }]), 415],
  ['a file without a name of a field', formBody([{ ...file, name: '' }]), 415],
  ['a file under the name __proto__', formBody([{ ...file, name: '__proto__' }]), 415],
  [
    'a nested form',
    formBody([
      { name: 'cv', file: 'x', type: 'multipart/mixed; boundary=c', content: formBody([file], 'c') },
      { name: '_save', content: '' },
    ]),
    422,
  ],
  ['1,200 fields', formBody(Array.from({ length: 1_200 }, (_, n) => ({ name: `f${n}`, content: 'x' }))), 400],
  ['fields larger than a body', formBody([{ name: 'name', content: 'x'.repeat(1_100_000) }]), 413],
  ['a field that is not UTF-8', formBody([{ name: 'name', content: Buffer.from([0xff]) }]), 400],
];
