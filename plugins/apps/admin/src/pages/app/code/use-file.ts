import { useCallback, useEffect, useState } from 'react';
import { useSearchParams } from 'react-router-dom';
import type { AppDetail, CodeFile, CodeProblem } from '../../../../../shared/admin-api';
import { type PanelError, useAction } from '../../../api/base';
import { useAppsCheckFilesMutation, useAppsWriteFileMutation, useLazyAppsFileQuery } from '../../../api/code';

/** A file in the editor. */
interface OpenedFile {
  file: CodeFile;
  /** What the editor holds. */
  text: string;
}

/** The file of each app that was changed and not saved, until the page is left: other tabs of the app do not lose it. */
const drafts = new Map<string, OpenedFile>();

const keyOf = ({ site, id }: Pick<AppDetail, 'site' | 'id'>): string => JSON.stringify([site, id]);

export const draftOf = (app: Pick<AppDetail, 'site' | 'id'>): OpenedFile | null => drafts.get(keyOf(app)) ?? null;

/** Keeps the file if its text is not saved; else forgets the app's. */
function keepDraft(app: Pick<AppDetail, 'site' | 'id'>, opened: OpenedFile | null): void {
  if (opened && opened.text !== opened.file.text) drafts.set(keyOf(app), opened);
  else drafts.delete(keyOf(app));
}

/** The unsaved texts of an app by path, as previews and runs take them. */
export function editsOf(opened: OpenedFile | null): Record<string, string> {
  return opened && opened.text !== opened.file.text ? { [opened.file.path]: opened.text } : {};
}

/** Milliseconds after the last key before the texts are checked. */
const CHECK_AFTER = 800;

/** The parameter of the address with the path of the file. */
const FILE = 'file';

/** What is on the disk instead of what was read; null: the file was deleted. */
type Theirs = { current: CodeFile | null };

/**
 * The file in the editor: reads it, keeps what is entered, checks it, and saves it unless it has changed meanwhile. The address of the
 * page names it, so that a reload, the browser's Back and a copied address open it.
 * @param mayLeave asks whether a text that is not saved may be lost
 */
export function useFile(app: AppDetail, isLocked: boolean, mayLeave: () => boolean) {
  const [search, setSearch] = useSearchParams();
  const wanted = search.get(FILE);
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

  /** Puts a file, or none, into the address. */
  const address = (named: string | undefined, replace: boolean) =>
    setSearch(named === undefined ? {} : { [FILE]: named }, { replace });

  const open = useCallback(
    async (named: string): Promise<boolean> => {
      const file = await act(() => readFile({ site, app: id, path: named }).unwrap());
      if (!file) return false;
      setTheirs(null);
      setOpened({ file, text: file.text });
      return true;
    },
    [act, readFile, site, id],
  );
  const choose = async (named: string) => {
    if (await open(named)) address(named, named === wanted);
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: what is opened changes the address, not the other way round
  useEffect(() => {
    if ((wanted ?? undefined) === path) return;
    const isDraft = wanted === null && opened === draftOf(app);
    if (changed !== null && (isDraft || !mayLeave())) address(path, true);
    else if (wanted !== null) void open(wanted);
    else close();
  }, [wanted]);

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
  const move = (file: CodeFile) => {
    setOpened((now) => now && { file, text: now.text === now.file.text ? file.text : now.text });
    address(file.path, true);
  };
  function close() {
    setOpened(null);
    setTheirs(null);
    if (wanted !== null) address(undefined, true);
  }
  const takeTheirs = () => {
    if (!theirs?.current) return close();
    setOpened({ file: theirs.current, text: theirs.current.text });
    setTheirs(null);
  };
  return { opened, changed, theirs, problems, choose, save, edit, move, takeTheirs, close };
}
