import type { Report } from '../../../server/src/apps';
import { type App, isUnknown, namesInRights } from '../../../server/src/apps';
import { lookUpNames } from '../../../server/src/auth';
import { didYouMean } from '../../../server/src/common/did-you-mean';
import { type Host, withStrapi } from '../host';

/** Looks up the users and groups that apps name, in the host's database. @param apps each with what it reports to */
export function checkNames(host: Host, apps: readonly { app: App; report: Report }[]): Promise<void> {
  return withStrapi(host, async (strapi) => {
    for (const { app, report } of apps) {
      const occurrences = namesInRights(app);
      const names = occurrences.map(({ name }) => name);
      const found = await lookUpNames(strapi, names);
      const { roles } = found;
      for (const { name, file, line, isRole } of occurrences.filter((one) => isUnknown(one, found))) {
        report({
          severity: 'error',
          position: { file, ...(line === null ? {} : { line }) },
          message: `No ${isRole ? 'role' : 'user and no role'} is called "${name}"${didYouMean(name, roles)}`,
          cure: `Make the role in the admin panel under Settings, Users & Permissions; there are: ${roles.join(', ')}.`,
        });
      }
    }
  });
}
