import { describe } from 'vitest';
import { authors, visitors } from './attacks';
import { runAttacks } from './attacks/run';

describe('by authors', () => runAttacks(authors));
// In development each request looks at all files of the theme, also those of the healthy client.
describe('by visitors', () => runAttacks(visitors, { production: true }));
