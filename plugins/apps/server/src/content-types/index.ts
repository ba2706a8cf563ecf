import change from './change/schema.json';
import record from './record/schema.json';
import rule from './rule/schema.json';

/** The plugin's content types: records (contract, section 1), rules on events (section 11), and changes under way. */
export const contentTypes = { record: { schema: record }, rule: { schema: rule }, change: { schema: change } };

export default contentTypes;
