import change from './change/schema.json';
import passwordChange from './password-change/schema.json';
import record from './record/schema.json';
import rule from './rule/schema.json';

/**
 * The plugin's content types: records (contract, section 1), rules on events (section 11), changes under way, and changes
 * of passwords (section 5). None of them is in the Content Manager.
 */
export const contentTypes = {
  record: { schema: record },
  rule: { schema: rule },
  change: { schema: change },
  'password-change': { schema: passwordChange },
};

export default contentTypes;
