import { Link, Typography } from '@strapi/design-system';
import type { AppDetail, BlockSummary } from '../../../../shared/admin-api';
import { DataTable } from '../../components/DataTable';
import { FailureNote, ProblemNote } from '../../components/page';
import { useText } from '../../plugin';

/** An app's blocks with their elements, or with their errors. */
export default function BlocksTab({ app: { blocks } }: { app: AppDetail }) {
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
