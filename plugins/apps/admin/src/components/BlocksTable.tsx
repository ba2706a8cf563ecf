import { Link, Typography } from '@strapi/design-system';
import type { BlockSummary } from '../../../shared/admin-api';
import { useText } from '../plugin';
import { DataTable } from './DataTable';
import { FailureNote, ProblemNote } from './ProblemNote';

/** An app's blocks with their elements, or with their errors. */
export function BlocksTable({ blocks }: { blocks: BlockSummary[] }) {
  const text = useText();
  return (
    <DataTable
      label={text('blocks')}
      empty={text('blocks.none')}
      rows={blocks}
      rowKey={(block) => block.id}
      columns={[
        {
          title: text('block'),
          cell: (block) => (
            <Link href={block.url} isExternal>
              {block.id}
            </Link>
          ),
        },
        {
          title: text('elements'),
          cell: (block) => block.elements.map(({ name, type }) => `${name} (${type})`).join(', '),
        },
        {
          title: text('state'),
          cell: (block) =>
            block.problem ? (
              <BlockProblems block={block} />
            ) : (
              <Typography textColor="success600">{text('state.fine')}</Typography>
            ),
        },
      ]}
    />
  );
}

/** The errors in a block's files, and its failures in use. */
function BlockProblems({ block: { problem, failures } }: { block: BlockSummary }) {
  return (
    <>
      {problem && !('at' in problem) && <ProblemNote problem={problem} />}
      {failures.map((failure) => (
        <FailureNote key={`${failure.file}:${failure.line} ${failure.message}`} failure={failure} />
      ))}
    </>
  );
}
