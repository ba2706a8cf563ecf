import { MergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { Button, Flex, Typography } from '@strapi/design-system';
import { useEffect, useRef } from 'react';
import type { CodeFile } from '../../../../../shared/admin-api';
import { useText } from '../../../plugin';
import { languageOf } from './languages';
import { basics, useColours } from './setup';

interface Props {
  path: string;
  mine: string;
  /** What is on the disk; null: the file was deleted. */
  theirs: CodeFile | null;
  onMine(): void;
  onTheirs(): void;
}

/** A file that has changed meanwhile: both texts side by side; nothing is written before the administrator chooses. */
export function Conflict({ path, mine, theirs, onMine, onTheirs }: Props) {
  const text = useText();
  const place = useRef<HTMLDivElement>(null);
  const colours = useColours();
  const current = theirs?.text ?? '';
  const [onDisk, own] = [text('code.conflict.disk', { path }), text('code.conflict.own', { path })];
  useEffect(() => {
    const extensions = (label: string) => [
      ...[basics, languageOf(path), EditorState.readOnly.of(true), EditorView.lineWrapping, colours],
      EditorView.contentAttributes.of({ 'aria-label': label }),
    ];
    const view = new MergeView({
      a: { doc: current, extensions: extensions(onDisk) },
      b: { doc: mine, extensions: extensions(own) },
      parent: place.current as HTMLDivElement,
    });
    return () => view.destroy();
  }, [path, mine, current, colours, onDisk, own]);
  return (
    <Flex direction="column" alignItems="stretch" gap={3}>
      <Typography role="alert" textColor="danger600">
        {text('code.conflict')}
      </Typography>
      <div ref={place} style={{ overflow: 'auto', maxHeight: '60vh', fontSize: '1.4rem' }} />
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
