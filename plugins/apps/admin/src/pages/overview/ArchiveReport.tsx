import { Box, Button, Flex, Typography } from '@strapi/design-system';
import type { ArchiveResult, ArchiveTests } from '../../../../shared/admin-api';
import { Pre } from '../../components/Pre';
import { ProblemNote } from '../../components/ProblemNote';
import { useText } from '../../plugin';

interface Props {
  result: ArchiveResult;
  /** Its tests run. */
  isTesting: boolean;
  onTest(): void;
}

/** What a checked ZIP holds, what it would change, what is wrong with it, or why it is refused. */
export function ArchiveReport({ result, isTesting, onTest }: Props) {
  const text = useText();
  const { problems, kind, id, files, state, differences, findings, tests } = result;
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
    <Flex direction="column" alignItems="stretch" gap={3} width="100%">
      <Typography>{text(kind === 'theme' ? 'archive.holds.theme' : 'archive.holds.app', values)}</Typography>
      {state === 'equal' && <Typography>{text('archive.equal')}</Typography>}
      {state === 'taken' && <Typography textColor="danger600">{text('archive.taken')}</Typography>}
      {lines.length > 0 && <Pre>{lines.join('\n')}</Pre>}
      <Findings findings={findings} />
      {tests && <Tests tests={tests} isTesting={isTesting} onTest={onTest} />}
    </Flex>
  );
}

function Findings({ findings }: Pick<ArchiveResult, 'findings'>) {
  const text = useText();
  if (findings.length === 0) return <Typography>{text('archive.findings.none')}</Typography>;
  return (
    <Box maxHeight="20rem" overflow="auto" tabIndex={0} role="region" aria-label={text('code.problems')}>
      <Typography fontWeight="bold">{text('archive.findings', { count: findings.length })}</Typography>
      {findings.map((finding) => (
        <ProblemNote
          key={`${finding.app}/${finding.file}:${finding.line}:${finding.column} ${finding.message}`}
          problem={{ ...finding, file: `${finding.app}/${finding.file}` }}
          tone={finding.severity === 'error' ? 'danger600' : 'warning700'}
          {...(finding.cure && { more: finding.cure })}
        />
      ))}
    </Box>
  );
}

/** The results of its tests, or the button that runs them where they may run. */
function Tests({ tests, isTesting, onTest }: { tests: ArchiveTests; isTesting: boolean; onTest(): void }) {
  const text = useText();
  const { state, files, passed, failed, skipped, failures, message } = tests;
  const isDone = state === 'ran' || state === 'broken';
  return (
    <Flex direction="column" alignItems="stretch" gap={2} role="status">
      {isDone && (
        <Typography textColor={failed > 0 || state === 'broken' ? 'danger600' : 'success600'}>
          {text('archive.tests.done', { passed, failed, skipped })}
        </Typography>
      )}
      {message !== null && <Typography textColor="danger600">{message}</Typography>}
      {failures.length > 0 && (
        <Pre>
          {failures.map(({ app, file, title, message }) => `${app}/${file}: ${title}\n${message}`).join('\n\n')}
        </Pre>
      )}
      {!isDone && <Typography>{text(`archive.tests.${state}`, { count: files })}</Typography>}
      {state === 'ready' && (
        <Flex>
          <Button variant="secondary" loading={isTesting} onClick={onTest}>
            {text('archive.tests.run')}
          </Button>
        </Flex>
      )}
    </Flex>
  );
}
