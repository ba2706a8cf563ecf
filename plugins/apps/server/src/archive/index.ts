/** Apps and themes as ZIP: checked, unpacked and packed; for the command line and the admin panel. */

export { type Differences, differences, filesBelow, packed, sitesOfThemes } from './contents';
export { ArchiveError, archiveLimits } from './entries';
export { type Imported, importArchive, type ThemeFolders, type Unpacked } from './import';
