/** Apps, blocks and what runs them: the spine between the door and everything below. */

export { loadApp } from './app';
export { programOf } from './block-session';
export { callVisit } from './call-visit';
export { publicSettings } from './context-data';
export { createMany, type ItemSource, itemsOf } from './create-many';
export { readCursor, writeCursor } from './cursor';
export { escapeHtml } from './elements';
export { type EmbeddingPage, embeddingPage, takePending } from './embed';
export { shownBlock } from './embed-cache';
export { callFunction, functionNames } from './embed-call';
export { LIVE_VIEW, type Live, type Topic, topics } from './embed-live';
export { contentHtml, type PageContent, themedPage } from './embed-page';
export { folderOf, placedMessage } from './error-mark';
export { type Failure, failuresOf } from './failures';
export { blockAddress } from './form';
export { nested } from './nested';
export { consoleHtml } from './notices';
export {
  computeElement,
  createRecord,
  guarded,
  removeRecord,
  requireRight,
  updateRecord,
  type VersionTest,
} from './record-operations';
export { answerTypes, redirectOf } from './response';
export { readRules } from './rules';
export {
  type AppServices,
  type DocumentCalls,
  permittedBlock,
  type Ran,
  type Run,
  showsDetails,
  type Visit,
  withRun,
} from './run';
export { type Displayed, displayBlock } from './run-block';
export type { FormFields } from './submission';
export { type Submitted, submitBlock } from './submit-block';
export type { App, Block, Definition, ElementDefinition, Settings } from './types';
export { readThemeInfo } from './yaml-theme';
