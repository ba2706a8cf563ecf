import { createLooked, type Looked } from '../looked';
import { eachSession } from './each-session';

const ofSession = eachSession(createLooked);

/** What the logic of this session has looked at. */
export const looked: Looked = {
  at: (name) => ofSession().at(name),
  atOne: (whole, name) => ofSession().atOne(whole, name),
  take: () => ofSession().take(),
};
