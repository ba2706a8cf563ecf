/** Names that Windows takes for devices, with any ending. */
const DEVICE = /^(con|prn|aux|nul|conin\$|conout\$|com[\d¹²³]|lpt[\d¹²³])[ ]*(\.|$)/i;

/** Characters that one file system or another does not take in a name. */
const FORBIDDEN = /[\p{Cc}\p{Surrogate}:*?"<>|\\/]/u;

/** Bytes of a name that every file system takes, with room for an ending. */
const MAX_BYTES = 200;

/**
 * Why a file or folder of this name cannot be made on every system, as the end of a sentence; null where it can. Names that exist
 * are read all the same: only what is made or imported is asked.
 */
export function fileNameProblem(name: string): string | null {
  if (FORBIDDEN.test(name)) return 'has a character that not every file system takes';
  if (DEVICE.test(name)) return 'is a name that Windows keeps for a device';
  if (/[. ]$/.test(name)) return 'ends with a dot or a space, which not every file system keeps';
  return Buffer.byteLength(name) > MAX_BYTES ? `is longer than ${MAX_BYTES} bytes` : null;
}
