/** What the poll asks. The values are stored: change labels at any time, values only before the first vote. */
export const question = 'Which day suits you best?';

export const answers = [
  { value: 'tuesday', label: 'Tuesday evening' },
  { value: 'thursday', label: 'Thursday evening' },
  { value: 'saturday', label: 'Saturday afternoon' },
];
