import { useNotification } from '@strapi/strapi/admin';
import { type FormEvent, useState } from 'react';
import type { Rule, RuleInput } from '../../../../shared/admin-api';
import { type PanelError, useErrorText } from '../../api/base';
import { useAppsCreateRuleMutation, useAppsRuleFunctionsQuery, useAppsUpdateRuleMutation } from '../../api/rules';
import { useMay } from '../../permissions';
import { useText } from '../../plugin';

/** A rule while it is entered; '' is nothing chosen yet. */
export type Draft = Omit<RuleInput, 'event'> & { event: RuleInput['event'] | '' };

const empty: Draft = { name: '', enabled: true, event: '', contentType: '', app: '', block: '', function: '' };

/** Errors by the key of the rule. */
export type Errors = Partial<Record<string, string>>;

/** The rule being entered, its errors, and a function that saves it. */
export function useDraft(rule: Rule | undefined, onSaved: () => void) {
  const text = useText();
  const textOf = useErrorText();
  const [updateRule] = useAppsUpdateRuleMutation();
  const [createRule] = useAppsCreateRuleMutation();
  const { toggleNotification } = useNotification();
  const [draft, setDraft] = useState<Draft>(() => inputOf(rule));
  const [errors, setErrors] = useState<Errors>({});
  const [saving, setSaving] = useState(false);

  const change = (changes: Partial<Draft>) => {
    setDraft((previous) => ({ ...previous, ...changes }));
    setErrors((previous) => Object.fromEntries(Object.entries(previous).filter(([key]) => !(key in changes))));
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const missing = Object.keys(draft).filter((key) => draft[key as keyof Draft] === '');
    if (missing.length > 0) return setErrors(Object.fromEntries(missing.map((key) => [key, text('rule.required')])));
    setSaving(true);
    try {
      const input = draft as RuleInput;
      await (rule ? updateRule({ rule: rule.id, changes: input }) : createRule(input)).unwrap();
      toggleNotification({ type: 'success', message: text('rule.saved') });
      onSaved();
    } catch (error) {
      const message = textOf(error) ?? '';
      const key = keyOf(error);
      if (key === null) toggleNotification({ type: 'danger', message });
      else setErrors({ [key]: message });
    } finally {
      setSaving(false);
    }
  };
  return { draft, change, errors, saving, submit };
}

function inputOf(rule: Rule | undefined): Draft {
  if (!rule) return empty;
  const { id: _id, failures: _failures, problem: _problem, ...input } = rule;
  return input;
}

/** The key of the rule that the server's error is about; null for another error. */
function keyOf(error: unknown): string | null {
  const { key } = ((error as PanelError).details ?? {}) as { key?: unknown };
  return typeof key === 'string' && key in empty ? key : null;
}

/** The functions of the chosen block; undefined while they are loaded, and for those who may not change rules. */
export function useFunctions({ app, block }: Draft) {
  const textOf = useErrorText();
  const may = useMay();
  const skip = block === '' || !may('manage');
  const { currentData, error } = useAppsRuleFunctionsQuery({ app, block }, { skip });
  return { data: block === '' || error ? [] : currentData, error: block === '' ? null : textOf(error) };
}
