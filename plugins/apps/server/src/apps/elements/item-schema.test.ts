import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../../shared/json';
import { elementTypes, itemSchema } from '.';
import { elementOf } from './testing/element';

type Given = Record<string, unknown>;

const colors = [
  { value: 'red', label: 'Red' },
  { value: 2, label: 'Two' },
];
const schemas = addFormats(new Ajv2020({ strict: false })).addFormat('idn-email', /^[^@\s]+@[^@\s]+$/);

describe('JSON Schema of items', () => {
  const schemaOf = (type: string, extra: Given = {}) => itemSchema(elementOf(type, extra));

  const fields = new Map([['n', elementOf('TEXT', { name: 'n' })]]);

  const stored = { id: 1, documentId: 'a', name: 'a.pdf', url: '/uploads/a.pdf', mime: 'application/pdf', size: 3 };

  test.each<[string, Given, Json]>([
    ['FILE', {}, stored],
    ['FILE', {}, null],
    ['IMAGE', { required: true }, { ...stored, width: 1, height: 1 }],
    ['FILE', { multiple: true }, []],
    ['FILE', { multiple: true, required: true }, [stored]],
    ['REFERENCE', { app: 'a' }, null],
    ['REFERENCE', { app: 'a', required: true }, 'x'],
    ['REFERENCE', { app: 'a', multiple: true }, ['1', '2']],
    ['REPEAT', { fields, min: 1 }, [{ n: 'a' }]],
    ['REPEAT', { fields }, []],
    ['TEXT', { required: true, showIf: {} }, null],
    ['SELECT', { options: colors, multiple: true, showIf: {} }, null],
    ['TEXT', { readonly: true }, null],
  ])('of %s with %j allows %j', (type, extra, value) => {
    expect(schemas.validate(schemaOf(type, extra) as object, value), schemas.errorsText()).toBe(true);
  });

  test('every input has one', () => {
    const inputs = [...elementTypes].filter(([, { role }]) => role === 'input');
    expect(inputs.filter(([, { schema }]) => !schema).map(([name]) => name)).toEqual([]);
  });

  test.each<[string, Given, Json]>([
    ['FILE', { required: true }, null],
    ['FILE', {}, 'a.pdf'],
    ['FILE', { multiple: true, required: true }, []],
    ['TEXT', {}, null],
    ['TEXT', { required: true }, ''],
    ['TEXT', { required: true, showIf: {} }, ''],
    ['TEXT', { readonly: true, default: 'a' }, null],
    ['TEXT', { minlength: 3 }, 'ab'],
    ['TEXT', { pattern: 'a|b' }, 'ab'],
    ['EMAIL', {}, 'eric'],
    ['URL', {}, 'a b'],
    ['NUMBER', {}, '3'],
    ['NUMBER', { required: true }, null],
    ['NUMBER', { max: 2 }, 3],
    ['DATE', {}, '2024-02-30'],
    ['DATETIME', {}, '2024-02-29'],
    ['BOOLEAN', {}, 'on'],
    ['SELECT', { options: colors }, 'blue'],
    ['RADIO', { options: colors, required: true }, null],
    ['CHECKBOXES', { options: colors }, 'red'],
    ['SELECT', { options: colors, multiple: true }, ['red', 'red']],
    ['REFERENCE', { app: 'a' }, ''],
    ['REFERENCE', { app: 'a', required: true }, null],
    ['REFERENCE', { app: 'a', multiple: true }, ['1', '1']],
    ['REFERENCE', { app: 'a', multiple: true }, null],
    ['REPEAT', { fields }, [{}]],
    ['REPEAT', { fields }, [{ n: 1 }]],
    ['REPEAT', { fields, min: 1 }, []],
    ['REPEAT', { fields, max: 1 }, [{ n: '' }, { n: '' }]],
    ['REPEAT', { fields }, null],
  ])('%s with %j refuses %j', (type, extra, value) => {
    expect(schemas.validate(schemaOf(type, extra) as object, value)).toBe(false);
  });

  test.each<[string, Given, object | null]>([
    ['ACTION', {}, null],
    ['BASIC', {}, null],
    ['BASIC', { mode: 'COMPUTED_ON_SAVE' }, {}],
    ['NUMBER', { mode: 'COMPUTED_ON_CREATION' }, {}],
  ])('%s with %j is %j', (type, extra, schema) => {
    expect(schemaOf(type, extra)).toEqual(schema);
  });
});
