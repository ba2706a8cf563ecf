import { useState } from 'react';
import type { RunAgain } from '../../../../../shared/admin-api';
import { useAction } from '../../../api/base';
import { useAppsRunAgainMutation } from '../../../api/runs';

/** What a run did that ran again, and the unsaved file with which it ran. */
export interface Repeated {
  run: string;
  again: RunAgain;
  edited: string | undefined;
}

/** Runs something again, with the saved code or with unsaved texts; nothing is written. */
export function useRunAgain() {
  const act = useAction();
  const [send, { isLoading }] = useAppsRunAgainMutation();
  const [repeated, setRepeated] = useState<Repeated | null>(null);
  const runAgain = async (run: string, files: Record<string, string> = {}) => {
    const again = await act(() => send({ run, files }).unwrap());
    if (!again) return null;
    const [edited] = Object.keys(files);
    setRepeated({ run, again, edited });
    return again;
  };
  return { runAgain, repeated, isLoading };
}
