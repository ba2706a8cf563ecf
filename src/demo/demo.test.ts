import { expect, test } from 'vitest';
import { demoIsOn } from './index';

test.each([
  [{}, true],
  [{ NODE_ENV: 'development' }, true],
  [{ NODE_ENV: 'production' }, false],
  [{ NODE_ENV: 'production', APPS_DEMO: 'true' }, true],
  [{ NODE_ENV: 'production', APPS_DEMO: 'empty' }, true],
  [{ NODE_ENV: 'production', APPS_DEMO: '' }, false],
  [{ NODE_ENV: 'development', APPS_DEMO: 'false' }, false],
  [{ APPS_DEMO: 'FALSE' }, false],
  [{ NODE_ENV: 'production', APPS_DEMO: 'yes' }, false],
])('with %j the demo is on: %s', (environment, on) => {
  expect(demoIsOn(environment)).toBe(on);
});
