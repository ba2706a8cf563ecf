import { attacks } from './attacks';
import { runAttacks } from './attacks/run';

runAttacks(attacks);
