import { useEffect, useMemo, useRef, useState } from 'react';

/** Pixels of a page. */
export const widths = { phone: 390, desktop: 1200 };

interface Props {
  title: string;
  html: string;
  /** Pixels for which the page is laid out. */
  width: number;
  /** In `vh`. */
  height?: number;
}

/** A page of a theme at a width in pixels, made smaller where there is less room. Its scripts do not run. */
export function PageFrame({ title, html, width, height = 60 }: Props) {
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
          ...{ width, height: `${height / scale}vh`, border: 0, background: '#fff' },
          ...{ transform: `scale(${scale})`, transformOrigin: 'top left' },
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
