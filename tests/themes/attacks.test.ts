import { attacks } from '../hostile/attacks';
import { runAttacks } from '../hostile/attacks/run';

// The short form of `npm run test:hostile`. Other tests run beside it, so that it allows more time.
runAttacks(
  attacks.filter(({ short }) => short),
  { maxWait: 2_000 },
);
