/** Apps and themes as ZIP: checked, unpacked and packed; for the command line and the admin panel. */

export { ArchiveError, archiveLimits } from './entries';
export { type Differences, differences, filesBelow, packed } from './files';
export { type Imported, importArchive, sitesOfThemes, type ThemeFolders, type Unpacked } from './import';
