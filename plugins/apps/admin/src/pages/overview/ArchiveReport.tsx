import { Box, Flex, Typography } from '@strapi/design-system';
import type { ArchiveResult } from '../../../../shared/admin-api';
import { Pre } from '../../components/Pre';
import { useText } from '../../plugin';

/** What a checked ZIP holds, what it would change, or why it is refused. */
export function ArchiveReport({ result }: { result: ArchiveResult }) {
  const text = useText();
  const { problems, kind, id, files, state, differences } = result;
  if (problems.length > 0) {
    return (
      <Box role="alert">
        <Typography textColor="danger600">{text('archive.refused')}</Typography>
        <ul>
          {problems.map((problem) => (
            <li key={problem}>
              <Typography style={{ overflowWrap: 'anywhere' }}>{problem}</Typography>
            </li>
          ))}
        </ul>
      </Box>
    );
  }
  const values = { id: id ?? '', count: files };
  const lines = Object.entries(differences ?? {}).flatMap(([what, paths]) =>
    (paths as string[]).map((path) => `${{ added: '+', removed: '−' }[what] ?? '~'} ${path}`),
  );
  return (
    <Flex direction="column" alignItems="stretch" gap={3}>
      <Typography>{text(kind === 'theme' ? 'archive.holds.theme' : 'archive.holds.app', values)}</Typography>
      {state === 'equal' && <Typography>{text('archive.equal')}</Typography>}
      {state === 'taken' && <Typography textColor="danger600">{text('archive.taken')}</Typography>}
      {lines.length > 0 && <Pre>{lines.join('\n')}</Pre>}
    </Flex>
  );
}
