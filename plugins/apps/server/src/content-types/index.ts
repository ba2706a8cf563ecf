import answer from './answer/schema.json';
import auditEntry from './audit-entry/schema.json';
import change from './change/schema.json';
import draft from './draft/schema.json';
import file from './file/schema.json';
import formPost from './form-post/schema.json';
import history from './history/schema.json';
import job from './job/schema.json';
import keptFile from './kept-file/schema.json';
import link from './link/schema.json';
import mail from './mail/schema.json';
import mailRate from './mail-rate/schema.json';
import mailRefusal from './mail-refusal/schema.json';
import passwordChange from './password-change/schema.json';
import record from './record/schema.json';
import rule from './rule/schema.json';
import run from './run/schema.json';
import schedule from './schedule/schema.json';
import version from './version/schema.json';

/**
 * The plugin's content types: records (docs/reference/terms.md#records), rules on events
 * (docs/reference/events.md#rules-on-events), recent changes of records, files that forms have put into the media library, or that wait for their forms,
 * jobs and mails of apps and the locks of their rates, refused receipts, runs of logic, the audit log of administrators, versions of files, counts of posted forms (docs/reference/rights.md#public-forms), changes of passwords
 * (docs/reference/rights.md#passwords), what signed links lead to, drafts of forms, answers of requests that may come again, and versions of records. None of them is in the Content Manager.
 */
export const contentTypes = {
  record: { schema: record },
  rule: { schema: rule },
  change: { schema: change },
  file: { schema: file },
  'kept-file': { schema: keptFile },
  job: { schema: job },
  link: { schema: link },
  draft: { schema: draft },
  schedule: { schema: schedule },
  mail: { schema: mail },
  'mail-rate': { schema: mailRate },
  'mail-refusal': { schema: mailRefusal },
  run: { schema: run },
  'audit-entry': { schema: auditEntry },
  version: { schema: version },
  'form-post': { schema: formPost },
  'password-change': { schema: passwordChange },
  answer: { schema: answer },
  history: { schema: history },
};

export default contentTypes;
