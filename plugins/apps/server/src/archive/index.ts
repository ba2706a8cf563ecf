/** Apps and themes as ZIP: checked, unpacked and packed; for the command line and the admin panel. */

export { sitesOfThemes } from './contents';
export { archiveLimits } from './entries';
export { ArchiveError } from './errors';
export { type Differences, differences, filesBelow, packed } from './files';
export { type Imported, importArchive, type ThemeFolders, type Unpacked } from './import';
