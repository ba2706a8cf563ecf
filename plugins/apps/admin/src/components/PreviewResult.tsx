import { Box, Typography } from '@strapi/design-system';
import { useErrorText } from '../api/base';
import { useText } from '../plugin';
import { PageFrame, widths } from './PageFrame';
import type { Width } from './WidthButtons';

interface Props {
  title: string;
  /** The page, with its status and where it redirects to; null before the first one. */
  answer: { status: number; redirect: string | null; html: string } | null;
  /** Why there is no page; null without an error. */
  error: unknown;
  width: Width;
  /** In `vh`. */
  height?: number;
}

/** A preview, or why there is none. */
export function PreviewResult({ title, answer, error, width, height }: Props) {
  const text = useText();
  const textOf = useErrorText();
  return (
    <>
      {error !== null && (
        <Typography role="alert" textColor="danger600">
          {textOf(error)}
        </Typography>
      )}
      {answer && (
        <Box borderColor="neutral200" hasRadius>
          {answer.status !== 200 && (
            <Typography textColor="danger600">
              {[text('code.preview.status', { status: answer.status }), answer.redirect].filter(Boolean).join(' → ')}
            </Typography>
          )}
          <PageFrame title={title} html={answer.html} width={widths[width]} {...(height !== undefined && { height })} />
        </Box>
      )}
    </>
  );
}
