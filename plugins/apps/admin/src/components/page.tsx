import { Box, Button, Flex, Typography } from '@strapi/design-system';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import type { BlockFailure, FileProblem } from '../../../shared/admin-api';
import { positionText } from '../../../shared/positions';
import { useText } from '../plugin';

/** Pixels of a page. */
export const widths = { phone: 390, desktop: 1200 };

interface PageFrameProps {
  title: string;
  html: string;
  /** Pixels for which the page is laid out. */
  width: number;
  /** In `vh`. */
  height?: number;
}

/** A page of a theme at a width in pixels, made smaller where there is less room. Its scripts do not run. */
export function PageFrame({ title, html, width, height = 60 }: PageFrameProps) {
  const container = useRef<HTMLDivElement>(null);
  const [available, setAvailable] = useState(width);
  const shown = useMemo(() => still(html), [html]);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => entry && setAvailable(entry.contentRect.width));
    observer.observe(container.current as HTMLDivElement);
    return () => observer.disconnect();
  }, []);
  const scale = Math.min(1, Math.max(1, available) / width);
  return (
    <div ref={container} style={{ height: `${height}vh`, overflow: 'hidden' }}>
      <iframe
        title={title}
        sandbox=""
        srcDoc={shown}
        style={{
          width,
          height: `${height / scale}vh`,
          border: 0,
          background: '#fff',
          transform: `scale(${scale})`,
          transformOrigin: 'top left',
        }}
      />
    </div>
  );
}

/**
 * The page without what the frame refuses anyway, of which the browser would write errors to the console: scripts, and fields
 * that take the focus. Its links do nothing: the page that they open would not be a preview.
 */
function still(html: string): string {
  const page = new DOMParser().parseFromString(html, 'text/html');
  for (const script of page.querySelectorAll('script')) script.remove();
  for (const field of page.querySelectorAll('[autofocus]')) field.removeAttribute('autofocus');
  const base = page.createElement('base');
  base.target = '_blank';
  page.head.prepend(base);
  return `<!doctype html>${page.documentElement.outerHTML}`;
}

/** A part of a page, on white. */
export function Section({ title, children }: { title?: string; children: ReactNode }) {
  return (
    <Box tag="section" background="neutral0" shadow="tableShadow" hasRadius padding={6} aria-label={title}>
      {title && (
        <Box paddingBottom={4}>
          <Typography variant="delta" tag="h2">
            {title}
          </Typography>
        </Box>
      )}
      {children}
    </Box>
  );
}

/** Preformatted text in a monospaced font; long lines wrap. */
export function Verbatim({ children }: { children: string }) {
  return (
    <Typography
      tag="pre"
      variant="pi"
      style={{ fontFamily: 'monospace', whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
    >
      {children}
    </Typography>
  );
}

/** Preformatted text in a box that can be scrolled by keyboard. */
export function Pre({ children }: { children: string }) {
  return (
    <Box overflow="auto" maxHeight="30rem" background="neutral100" padding={3} hasRadius tabIndex={0}>
      <Verbatim>{children}</Verbatim>
    </Box>
  );
}

/** Preformatted text below its name. */
export function Labelled({ label, children }: { label: string; children: string }) {
  return (
    <Box>
      <Typography variant="sigma">{label}</Typography>
      <Pre>{children}</Pre>
    </Box>
  );
}

interface ChangedMeanwhileProps {
  message: string;
  /** Shows what is stored now. */
  children: ReactNode;
  onMine(): void;
  onTheirs(): void;
}

/** What another administrator has stored since it was read: nothing is written or lost before the administrator chooses. */
export function ChangedMeanwhile({ message, children, onMine, onTheirs }: ChangedMeanwhileProps) {
  const text = useText();
  return (
    <Flex direction="column" alignItems="stretch" gap={3}>
      <Typography role="alert" textColor="danger600">
        {message}
      </Typography>
      {children}
      <Flex gap={2}>
        <Button variant="tertiary" onClick={onTheirs}>
          {text('code.conflict.theirs')}
        </Button>
        <Button variant="danger-light" onClick={onMine}>
          {text('code.conflict.mine')}
        </Button>
      </Flex>
    </Flex>
  );
}

/** An error with its position, the line of the file, and further details. */
export function ProblemNote({
  problem,
  more,
  tone = 'danger600',
}: {
  problem: FileProblem;
  more?: string;
  tone?: string;
}) {
  const { message, excerpt } = problem;
  return (
    <Box role="note" paddingTop={1} paddingBottom={1}>
      <Typography textColor={tone} tag="p">
        {message}
      </Typography>
      <Typography variant="pi" textColor="neutral600" tag="p">
        {[positionText(problem), more].filter(Boolean).join(' · ')}
      </Typography>
      {excerpt && <Verbatim>{excerpt}</Verbatim>}
    </Box>
  );
}

/** A failure of a block in use: how often, and when last. */
export function FailureNote({ failure }: { failure: BlockFailure }) {
  const text = useText();
  const { at, times } = failure;
  return <ProblemNote problem={failure} more={text('problem.failed', { times, at: new Date(at).toLocaleString() })} />;
}
