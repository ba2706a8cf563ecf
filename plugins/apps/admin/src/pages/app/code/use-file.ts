import { useCallback, useEffect, useState } from 'react';
import type { AppDetail, CodeFile, CodeProblem } from '../../../../../shared/admin-api';
import { type PanelError, useAction } from '../../../api/base';
import { useAppsCheckFilesMutation, useAppsWriteFileMutation, useLazyAppsFileQuery } from '../../../api/code';
import { draftOf, keepDraft, type OpenedFile } from './drafts';

/** Milliseconds after the last key before the texts are checked. */
const CHECK_AFTER = 800;

/** What is on the disk instead of what was read; null: the file was deleted. */
export type Theirs = { current: CodeFile | null };

/** The file in the editor: reads it, keeps what is entered, checks it, and saves it unless it has changed meanwhile. */
export function useFile(app: AppDetail, isLocked: boolean) {
  const act = useAction();
  const key = { site: app.site, app: app.id };
  const [opened, setOpened] = useState<OpenedFile | null>(() => draftOf(app));
  const [theirs, setTheirs] = useState<Theirs | null>(null);
  const [problems, setProblems] = useState<CodeProblem[]>([]);
  const [readFile] = useLazyAppsFileQuery();
  const [writeFile] = useAppsWriteFileMutation();
  const [check] = useAppsCheckFilesMutation();
  const { site, app: id } = key;
  const path = opened?.file.path;
  const changed = opened && opened.text !== opened.file.text ? opened.text : null;

  useEffect(() => {
    const files = path !== undefined && changed !== null ? { [path]: changed } : {};
    const timer = setTimeout(() => {
      check({ site, app: id, files: isLocked ? {} : files })
        .unwrap()
        .then((found) => setProblems(found.problems))
        // A failed check is not shown here: saving reports the error.
        .catch(() => undefined);
    }, CHECK_AFTER);
    return () => clearTimeout(timer);
  }, [check, site, id, path, changed, isLocked]);

  useEffect(() => keepDraft({ site, id }, opened), [site, id, opened]);

  const open = useCallback(
    async (wanted: string) => {
      const file = await act(() => readFile({ site, app: id, path: wanted }).unwrap());
      if (!file) return;
      setTheirs(null);
      setOpened({ file, text: file.text });
    },
    [act, readFile, site, id],
  );

  const save = useCallback(
    async (revision: string | null | undefined = opened?.file.revision) => {
      if (!opened || revision === undefined) return;
      await act(async () => {
        const sent = { path: opened.file.path, text: opened.text, revision };
        const answer = await writeFile({ site, app: id, ...sent })
          .unwrap()
          .catch((error: PanelError) => {
            const details = error.details as Partial<Theirs> | undefined;
            if (!details || !('current' in details)) throw error;
            setTheirs({ current: details.current ?? null });
            return null;
          });
        if (!answer) return;
        setTheirs(null);
        setOpened((now) => (now?.file.path === answer.path ? { file: answer, text: now.text } : now));
      });
    },
    [act, opened, writeFile, site, id],
  );

  const edit = useCallback((entered: string) => setOpened((now) => now && { ...now, text: entered }), []);
  /** The file has another path; what is entered stays. */
  const move = (file: CodeFile) =>
    setOpened((now) => now && { file, text: now.text === now.file.text ? file.text : now.text });
  const takeTheirs = () => {
    if (theirs?.current) setOpened({ file: theirs.current, text: theirs.current.text });
    else setOpened(null);
    setTheirs(null);
  };
  return { opened, changed, theirs, problems, open, save, edit, move, takeTheirs, close: () => setOpened(null) };
}
