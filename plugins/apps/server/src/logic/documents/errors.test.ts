import { errors } from '@strapi/utils';
import { describe, expect, test } from 'vitest';
import { AppsError } from '../../common/errors';
import { translateStrapiError } from './access';

const isPrivate = (attribute: string): boolean => attribute === 'secret';
const translate = (error: unknown): unknown => translateStrapiError(error, isPrivate);

describe("Strapi's errors", () => {
  test('are equal for a private field and for one that does not exist', () => {
    const said = ['secret', 'missing'].map((key) => {
      const error = new errors.ValidationError(`Invalid key ${key}`, { key, param: 'filters', source: 'query' });
      return (translate(error) as Error).message.replace(key, 'FIELD');
    });
    expect(said).toEqual(['"FIELD" cannot be used in filters.', '"FIELD" cannot be used in filters.']);
  });

  test.each([
    [new errors.ValidationError('x', { key: 'id', source: 'body' }), 'BadRequestError', '"id" cannot be used in data.'],
    [
      new errors.ValidationError('title is required', { errors: [{ path: ['title'] }] }),
      'BadRequestError',
      'title is required',
    ],
    [
      new errors.ValidationError('secret is taken', { errors: [{ path: ['secret'] }] }),
      'BadRequestError',
      'The data is not valid.',
    ],
    [new errors.ApplicationError('Not on Sundays'), 'BadRequestError', 'Not on Sundays'],
    [new errors.NotFoundError('No such entry'), 'NotFoundError', 'No such entry'],
    [new errors.ForbiddenError('No'), 'ForbiddenError', 'No'],
  ])('%s', (error, name, message) => {
    const translated = translate(error);
    expect(translated).toBeInstanceOf(AppsError);
    expect(translated).toMatchObject({ name, message });
  });

  test.each([
    ['of the database', new Error('select * from articles')],
    ['of ours', new AppsError('ConflictError', 'again')],
    ['that are none', 'text'],
  ])('leave alone errors %s', (_name, error) => {
    expect(translate(error)).toBe(error);
  });
});
