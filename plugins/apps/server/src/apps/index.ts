/** Apps and blocks, and running them: between http/ and the parts below. */

export { html } from '../layouts';
export { programOf } from './blocks/block-session';
export { unanswered } from './blocks/display/question';
export { isSaved } from './blocks/group';
export { type Displayed, displayBlock } from './blocks/run-block';
export { createMany, type ItemSource, importRecords, itemsOf } from './blocks/saving/create-many';
export { type JsonForm, readJsonForm } from './blocks/saving/json-form';
export { nested } from './blocks/saving/nested';
export {
  changeRecord,
  computeElement,
  createRecord,
  permittedRecord,
  removeRecord,
  requireRight,
  updateRecord,
  type VersionTest,
} from './blocks/saving/record-operations';
export { type Submitted, showRefused, submitBlock } from './blocks/saving/submit-block';
export { senders } from './blocks/saving/ways';
export type { FormFields } from './blocks/sent/form';
export { fileRules } from './blocks/sent/submitted-files';
export { declaredCells } from './declared-cells';
export { inDebugMode, loadApp } from './definitions/app';
export { themeSource } from './definitions/partials';
export { readThemeInfo } from './definitions/theme';
export {
  actionField,
  attributes,
  builtInActions,
  declaredItems,
  elementTypes,
  entryElements,
  escapeHtml,
  itemSchema,
  type JsonSchema,
  PAGES,
  roleOf,
} from './elements';
export { readCursor, writeCursor } from './host-calls/cursor';
export { functionJob, type JobRequest } from './host-calls/job-calls';
export { checkApp, type LintServices } from './lint/check-app';
export {
  type Finding,
  type LintedApp,
  located,
  type Problem as LintProblem,
  type Report,
  refused,
  type Severity,
  sorted,
} from './lint/problem';
export { type ScheduleMeaning, scheduleMeanings } from './lint/schedules';
export {
  type ChangedRecord,
  conditionOf,
  digestOfIndexes,
  LIVE_VIEW,
  type Live,
  type LiveCondition,
  type RecordState,
  type Topic,
  testOf,
  topics,
} from './live-topics';
export {
  brokenCatalogues,
  inEnglish,
  localeFor,
  otherLanguage,
  type PageLocale,
  readCatalogue,
  type ServiceMessage,
} from './locales';
export { embeddingPage, takePending } from './pages/embed';
export { clearRenderings, shownBlock } from './pages/embed-cache';
export { callFunction, functionNames, UnknownFunction } from './pages/embed-call';
export { type PageContent, themedPage } from './pages/embed-page';
export { blockReference } from './pages/embed-reference';
export { shownElement } from './pages/exact-element';
export { contentPage } from './pages/exact-page';
export { canonicalLink, flashHtml, htmlDocument, scriptTag, withFlash } from './pages/html-document';
export { readRules } from './pages/rules';
export { missingBlock, type ThemeServices, themeErrors } from './pages/theme-errors';
export { beginRequest } from './renderings/exact';
export { browserScript, scriptUrl } from './run/asset-urls';
export { callVisit } from './run/call-visit';
export { shownSettings } from './run/context-data';
export { isUnknown, namesInRights } from './run/diagnostics/acl-names';
export { showsDetails } from './run/diagnostics/details';
export { folderOf, sourceOf } from './run/diagnostics/error-mark';
export { blockReasons, type Reason, rightReasons } from './run/diagnostics/explain';
export { failuresOf } from './run/diagnostics/failures';
export { consoleHtml } from './run/diagnostics/notices';
export { digestOf } from './run/digest';
export { type DryRun, newDryRun } from './run/dry';
export { localeOf } from './run/locale';
export { permittedBlock, refusal } from './run/permitted-block';
export type { PlaceTally } from './run/places/changes';
export { moveUpAll } from './run/places/settle';
export { FormRefusal } from './run/refusals';
export { answerTypes, redirectOf } from './run/response';
export type { Settle } from './run/run';
export { type RunOptions, withRun } from './run/run';
export { shownRecord, shownRecords } from './run/shown-files';
export { plainLocale, siteLocale } from './run/site-locale';
export type { AppServices, DocumentCalls, Flash, Ran, RequestBegin, Run, Visit } from './run/types';
export type { App, Block } from './types';
