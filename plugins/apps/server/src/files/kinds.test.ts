import { describe, expect, test } from 'vitest';
import { HEAD, kindOf } from './kinds';
import { chosenName } from './temporary-files';

const found = (bytes: Buffer | string, ending: string) => {
  const kind = kindOf(Buffer.from(bytes as string), ending);
  return kind && `${kind.mime} ${kind.ending}`;
};

const latin = (text: string) => Buffer.from(text, 'latin1');
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');
const utf16be = (text: string) => utf16(text).swap16();

/** The beginning of an ISO media file. */
const iso = (brand: string, ...others: string[]) => {
  const head = Buffer.from(`....ftyp${brand}\0\0\0\0${others.join('')}`, 'latin1');
  head.writeUInt32BE(head.length);
  return Buffer.concat([head, Buffer.from('....mdat\0\u0001', 'latin1')]);
};

describe('texts', () => {
  test.each([
    [latin('M\xfcller; Stra\xdfe'), 'txt', 'text/plain txt'],
    [latin('id;name\r\n1;M\xfcller \x80'), 'csv', 'text/csv csv'],
    [latin('BEGIN:VCARD\r\nN:M\xfcller\r\n'), 'vcf', 'text/vcard vcf'],
    [Buffer.from('8365838b8367', 'hex'), 'txt', 'text/plain txt'],
    [utf16('Müller'), 'txt', 'text/plain txt'],
    [utf16be('a;b\r\nМосква;1'), 'csv', 'text/csv csv'],
    [latin('M\xfcller'), 'foo', null],
    [latin('M\xfcller'), 'json', null],
    [latin('M\xfc\0ller'), 'txt', null],
    [Buffer.from('Müller', 'utf16le'), 'txt', null],
    ['Müller', 'foo', 'text/plain txt'],
    [`${'a'.repeat(HEAD - 1)}ü`.slice(0, HEAD), 'md', 'text/markdown md'],
    ['Subject: x\n\nHello', 'eml', 'text/plain txt'],
  ])('%j with the ending %s is %s', (bytes, ending, expected) => {
    expect(found(bytes, ending)).toBe(expected);
  });

  test.each([
    ...['Anna <anna@example.org>', 'a <b', 'a <b\n', '1 < 2', 'x <y> z', 'From: <p@host.org>', '<3 this'],
    ...['<anna@example.org>', 'List<String> all', 'a <- b', 'caf\u00e9 <caf\u00e9>', '</dev/null'],
  ])('%j is text', (text) => {
    expect(found(text, 'txt')).toBe('text/plain txt');
    expect(found(utf16(text), 'csv')).toBe('text/csv csv');
  });

  test.each([
    ...[
      '<b>x</b>',
      'x <script>alert(1)</script>',
      '<SCRIPT\nsrc=x>',
      'a <img src=x onerror=alert(1)>',
      'x </body >',
      '<a\n\n>',
    ],
    ...[
      '<!DOCTYPE html>',
      'x <!-- y',
      '<?xml version="1.0"?>',
      '<?php x',
      '<?= x',
      '<svg/onload=alert(1)>',
      '<svg xmlns="x">',
    ],
    ...[
      'a <foo onclick=x>',
      '<foo:bar xmlns:foo="x">',
      ' \n<rss version="2">',
      '#!/bin/sh',
      'x <h1>',
      '<math>',
      '<x/>',
    ],
    ...['<iframe src="javascript:x"', '<body onload=x'].map((text) => text.padEnd(HEAD + 9)),
  ])('%.60j may run in a browser', (text) => {
    for (const bytes of [Buffer.from(text), utf16(text), utf16be(text), latin(`${text} \xfc`)]) {
      const head = bytes.subarray(0, HEAD);
      // A declaration of a script is one at the very beginning only.
      if (!text.startsWith('#!') || head[0] === 0x23) expect(kindOf(head, 'txt')).toBeNull();
    }
  });

  test('a mark of UTF-8 hides no markup, also before other bytes', () => {
    const mark = Buffer.from('efbbbf', 'hex');
    for (const rest of ['<rss version="2">', '<rss version="2">\xfc'])
      expect(kindOf(Buffer.concat([mark, latin(rest)]), 'txt')).toBeNull();
  });

  test('markup is looked for in linear time', () => {
    const began = performance.now();
    for (const text of ['<b ', '<', '< on', '<a\t"on=', '</p/'])
      kindOf(Buffer.from(text.repeat(HEAD)).subarray(0, HEAD), 'txt');
    expect(performance.now() - began).toBeLessThan(200);
  });
});

describe('media', () => {
  test.each([
    [iso('isom', 'isom', 'avc1'), 'mp4', 'video/mp4 mp4'],
    [iso('mp42'), 'm4v', 'video/mp4 m4v'],
    [iso('iso6'), 'mp4', 'video/mp4 mp4'],
    [iso('XAVC', 'mp42'), 'mp4', 'video/mp4 mp4'],
    [iso('3gp5'), '3gp', 'video/3gpp 3gp'],
    [iso('M4A '), 'm4a', 'audio/mp4 m4a'],
    [iso('qt  '), 'mov', 'video/quicktime mov'],
    [iso('heic', 'mif1'), 'heic', 'image/heic heic'],
    [iso('hevx'), 'heic', 'image/heic heic'],
    [iso('hevc'), 'heif', 'image/heic heif'],
    [iso('mif1', 'mif1', 'heic'), 'heic', 'image/heic heic'],
    [iso('mif1', 'mif1', 'avif'), 'avif', 'image/avif avif'],
    [iso('avif'), 'jpg', 'image/avif avif'],
    [iso('crx ', 'crx ', 'isom'), 'cr3', null],
    [iso('zzzz', 'isom'), 'mp4', null],
  ])('%# with the ending %s is %s', (bytes, ending, expected) => {
    expect(found(bytes, ending)).toBe(expected);
  });

  test('an office file with a password keeps its name', () => {
    const container = Buffer.from('d0cf11e0a1b11ae10000', 'hex');
    expect(found(container, 'docx')).toBe('application/msword docx');
    expect(found(container, 'xls')).toBe('application/msword xls');
    expect(found(container, 'exe')).toBe('application/msword doc');
  });
});

test.each([
  ['cv.docx', 'cv.docx'],
  ['C:\\Users\\me\\a+b.eml', 'a+b.eml'],
  ['a\u202egpj.exe\r\nX: y', 'a gpj.exe  X: y'],
  ['', ''],
])('the chosen name of %j is %j', (given, expected) => {
  expect(chosenName(given)).toBe(expected);
});
