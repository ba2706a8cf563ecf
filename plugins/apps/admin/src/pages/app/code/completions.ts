import { type CompletionContext, type CompletionResult, completeFromList } from '@codemirror/autocomplete';
import type { AppDetail, CodeHints } from '../../../../../shared/admin-api';

type Source = (context: CompletionContext) => CompletionResult | null | Promise<CompletionResult | null>;

/** What is completed in a file: keys of a definition or of the settings, members of `context`, elements of the block. */
export function completionsOf(path: string, app: AppDetail, hints: CodeHints | undefined): Source[] {
  const block = /^blocks\/([^/]+)\.[a-z]+$/.exec(path)?.[1];
  const elements = app.blocks.find(({ id }) => id === block)?.elements ?? [];
  const names = elements.map(({ name, type }) => ({ label: name, detail: type, type: 'variable' }));
  if (/\.ya?ml$/.test(path)) return [keys(path === 'settings.yaml' ? hints?.settings : hints?.definition)];
  if (/\.(js|mjs|ts|py)$/.test(path)) return [members(hints?.members ?? {})];
  return /\.(html|liquid)$/.test(path) ? [afterBrace(names)] : [];
}

const keys = (labels: readonly string[] = []): Source =>
  completeFromList(labels.map((label) => ({ label, type: 'property' })));

/** `app.` offers the members of an app. */
function members(known: CodeHints['members']): Source {
  return (context) => {
    const found = context.matchBefore(/([A-Za-z_]+)\.\w*$/);
    const object = found?.text.split('.')[0] ?? '';
    const names = Object.hasOwn(known, object) ? known[object] : undefined;
    if (!found || !names) return null;
    const options = names.map((label) => ({ label, type: 'method' }));
    return { from: found.from + object.length + 1, options, validFor: /^\w*$/ };
  };
}

function afterBrace(options: { label: string; detail: string; type: string }[]): Source {
  return (context) => {
    const found = context.matchBefore(/\{\s*\w*$/);
    return found && { from: found.from + found.text.search(/\w*$/), options, validFor: /^\w*$/ };
  };
}
