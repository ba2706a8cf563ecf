/** Apps and blocks, and running them: between http/ and the parts below. */

export { html } from '../layouts';
export { programOf } from './blocks/block-session';
export { END_DRAFT } from './blocks/display/form';
export { unanswered } from './blocks/display/form-pages';
export { continuedForm } from './blocks/display/shown-again';
export { isSaved, shownElements } from './blocks/group';
export { type Displayed, displayBlock } from './blocks/run-block';
export { type JsonForm, ownItems, readJsonForm, senders } from './blocks/saving/checked-items';
export { createMany, hasRules, type ItemSource, importRecords, itemsOf } from './blocks/saving/create-many';
export { nested } from './blocks/saving/nested';
export { confirmRecord } from './blocks/saving/notify';
export {
  changeRecord,
  computeElement,
  createRecord,
  movable,
  permittedRecord,
  removeRecord,
  requireRight,
  updateRecord,
  type VersionTest,
} from './blocks/saving/record-operations';
export {
  requireHistory,
  restoreVersion,
  type Undo,
  type UndoneRecord,
  undoAll,
  undoneBy,
} from './blocks/saving/restore';
export type { SavedDraft } from './blocks/saving/save-draft';
export { deleteRecord } from './blocks/saving/save-record';
export { type Submitted, showEndedDraft, showRefused, submitBlock } from './blocks/saving/submit-block';
export { draftValues } from './blocks/sent/draft-content';
export { declaredCells } from './declared-cells';
export { inDebugMode, loadApp, readThemeInfo, themeSource } from './definitions/app';
export { timeBefore } from './definitions/records';
export { historyDaysOf } from './definitions/settings';
export {
  actionField,
  attributes,
  builtInActions,
  declaredItems,
  elementTypes,
  entryElements,
  escapeHtml,
  type FormFields,
  fileRules,
  itemSchema,
  type JsonSchema,
  PAGES,
  type PersonElements,
  personElements,
  personNames,
  placeOfFile,
  type ReservedField,
  roleOf,
} from './elements';
export { functionJob, type JobRequest } from './host-calls/job-calls';
export { readCursor, writeCursor } from './host-calls/record-calls';
export { checkApp, type LintServices } from './lint/check-app';
export { type ScheduleMeaning, scheduleMeanings } from './lint/logic';
export {
  type Finding,
  type LintedApp,
  type LintProblem,
  located,
  type Report,
  refused,
  type Severity,
  sorted,
} from './lint/problem';
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
export {
  blockReference,
  callFunction,
  embeddingPage,
  functionNames,
  type ShownInPage,
  UnknownFunction,
} from './pages/embed';
export { clearRenderings, shownBlock } from './pages/embed-cache';
export {
  canonicalLink,
  flashHtml,
  htmlDocument,
  type PageContent,
  scriptTag,
  themedPage,
  withFlash,
} from './pages/embed-page';
export { beginRequest, type CacheState } from './pages/exact';
export { contentPage, shownElement, variedHeaders } from './pages/exact-page';
export { missingBlock, readRules, type ThemeServices, themeErrors } from './pages/rules';
export { shownSettings } from './run/context-data';
export { blockReasons, isUnknown, namesInRights, type Reason, rightReasons } from './run/diagnostics/explain';
export { consoleHtml, failuresOf, folderOf, showsDetails, sourceOf } from './run/diagnostics/failures';
export { confirmedOnly, hidesUnconfirmed, onlyOf, unlessHidden, visibleIn } from './run/element-data';
export { browserScript, scriptUrl, shownRecord, shownRecords } from './run/files';
export { draftAddress, knownLink, mayChange, openDraft, ownAddress, ownLink, ownsByLink } from './run/own-link';
export type { PlaceTally } from './run/places/changes';
export { confirmationTimes, receiptAddress, release as releaseUnconfirmed, waitsFor } from './run/places/confirmation';
export { moveUpAll } from './run/places/settle';
export { FormRefusal, refusesForm } from './run/refusals';
export { answerTypes, digestOf, redirectOf } from './run/response';
export { type RunOptions, type Settle, withRun } from './run/run';
export type { AppServices, DocumentCalls, Flash, OpenDraft, OwnLink, Ran, RequestBegin, Run, Visit } from './run/types';
export { callVisit, formTokens, makeVisit, type Origin } from './run/visit';
export {
  type DryRun,
  ForbiddenBlock,
  localeOf,
  nameOf,
  newDryRun,
  ownerOf,
  permittedBlock,
  plainLocale,
  provenanceOf,
  refusal,
  siteLocale,
} from './run/visits';
export type { App, Block } from './types';
