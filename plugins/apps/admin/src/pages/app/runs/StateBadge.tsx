import { Badge } from '@strapi/design-system';
import type { RunState } from '../../../../../shared/admin-api';
import { useText } from '../../../plugin';

const colours: Record<RunState, { backgroundColor: string; textColor: string }> = {
  done: { backgroundColor: 'success100', textColor: 'success700' },
  failed: { backgroundColor: 'danger100', textColor: 'danger700' },
  refused: { backgroundColor: 'neutral150', textColor: 'neutral800' },
};

/** How a run has ended. */
export function StateBadge({ state }: { state: RunState }) {
  const text = useText();
  return <Badge {...colours[state]}>{text(`run.state.${state}`)}</Badge>;
}
