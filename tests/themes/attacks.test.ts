import { authors, visitors } from '../hostile/attacks';
import { runAttacks } from '../hostile/attacks/run';
import { search } from '../hostile/attacks/search';

// The short form of `npm run test:hostile`. `npm test` also runs on slow machines, so that it allows more time.
runAttacks(
  [...authors, ...visitors, ...search].filter(({ short }) => short),
  { maxWait: 2_000 },
);
