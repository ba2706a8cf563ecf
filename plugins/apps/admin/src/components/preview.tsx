import { Box, Button, Typography } from '@strapi/design-system';
import { useErrorText } from '../api/base';
import { useText } from '../plugin';
import { PageFrame, widths } from './page';

interface PreviewResultProps {
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
export function PreviewResult({ title, answer, error, width, height }: PreviewResultProps) {
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

export type Width = keyof typeof widths;

/** The choice of the width at which a page is shown. */
export function WidthButtons({ width, onChoose }: { width: Width; onChoose(width: Width): void }) {
  const text = useText();
  return (Object.keys(widths) as Width[]).map((one) => (
    <Button
      key={one}
      variant={one === width ? 'secondary' : 'tertiary'}
      aria-pressed={one === width}
      onClick={() => onChoose(one)}
    >
      {text(`code.preview.${one}`)}
    </Button>
  ));
}
