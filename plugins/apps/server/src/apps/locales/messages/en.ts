/**
 * The service's messages for visitors, in ICU MessageFormat: an apostrophe before a brace is doubled. Each language has
 * the same keys.
 */
export const en = {
  // Buttons
  save: 'Save',
  edit: 'Edit',
  delete: 'Delete',
  yes: 'Yes',
  no: 'No',
  // Wrong fields
  required: 'Please fill in this field.',
  check: 'Please check this box.',
  choose: 'Please choose an option.',
  choose_one: 'Please choose one of the options.',
  choose_known: 'Please choose from the options only.',
  choose_any: 'Please choose at least one option.',
  number: 'Please enter a number.',
  email: 'Please enter an e-mail address, such as name@example.org.',
  url: 'Please enter a web address that begins with http:// or https://.',
  date: 'Please enter a date, such as 2026-03-01.',
  datetime: 'Please enter a date and time, such as 2026-03-01T09:30.',
  min: 'Please enter {min} or more.',
  max: 'Please enter {max} or less.',
  step: 'Please enter a value in steps of {step}.',
  step_from: 'Please enter a value in steps of {step} from {min}.',
  minlength: 'Please enter at least {count, plural, one {# character} other {# characters}}.',
  maxlength: 'Please enter at most {count, plural, one {# character} other {# characters}}.',
  pattern: 'Please match the requested format.',
  pattern_help: 'Please match the requested format: {help}',
  pattern_work: 'Checking the format takes too long. Please enter less text.',
  // Pages of a list
  paging: 'Pages',
  previous: 'Previous',
  next: 'Next',
  page_of: 'Page {page, number} of {pages, number}',
  tel: 'Please enter a telephone number, such as +44 20 7946 0000.',
  time: 'Please enter a time, such as 09:30.',
  file: 'Please choose a file.',
  file_one: 'Please choose one file only.',
  file_most: 'Please choose at most {count, plural, one {# file} other {# files}}.',
  file_type: 'Files of this type are not taken here: {name}',
  file_size: 'The file is larger than {size}: {name}',
  file_gone: 'The chosen file is no longer there. Please choose it again.',
  file_refused: 'This file could not be stored. Please choose another one.',
  file_again: 'Please choose the file again.',
  cancel: 'Cancel',
  automatic:
    'This looks like an automatic message, because a field that people do not see was filled in. Please send it again.',
  early: 'This was sent faster than a person fills in a form. Please send it again.',
  leave_empty: 'Leave this empty',
  needs_script: 'This form needs JavaScript, which keeps automatic messages away.',
  file_empty: 'The file is empty.',
  file_large: 'The file is larger than {size}.',
  file_unknown: 'This type of file is not taken here.',
  no_proof:
    'Your browser has not solved the task that keeps automatic messages away. It needs JavaScript and https. Please send the form again.',
  entry_add: 'Add',
  entry_remove: 'Remove',
  entry_up: 'Move up',
  entry_down: 'Move down',
  entries_min: 'Please fill in at least {count, plural, one {# entry} other {# entries}}.',
  entries_max: 'Please enter at most {count, plural, one {# entry} other {# entries}}.',
  entries_list: 'This must be a list of entries.',
} as const;

export type ServiceMessages = Record<keyof typeof en, string>;
