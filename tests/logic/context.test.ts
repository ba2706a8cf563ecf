import { configured } from '../support/configure';
import { useStage, useThemes } from '../support/hooks';
import { contextOfLogic } from './context/context';
import { logOfLogic } from './context/log';
import { mailOfApps } from './context/mail';
import { ratesOfMails } from './context/mail-rates';
import { optionsOfApps } from './context/options';
import { contextsOfPrograms, sealedApp } from './context/reused';
import { berlin, dayApp, daysOfTheSite } from './context/site-day';
import { visitorsOfApps } from './context/visitors';
import { writesOfLogic } from './context/writes';

const themes = useThemes(async (copy) => {
  for (const [file, text] of Object.entries({ ...dayApp, ...sealedApp })) await copy.write(`main/${file}`, text);
});
const stage = useStage(() => ({ themesDirectory: themes.directory, env: configured({ apps: { sites: berlin } }) }));

contextOfLogic(stage);
writesOfLogic(stage);
logOfLogic(stage);
optionsOfApps(stage);
mailOfApps(stage);
ratesOfMails(stage);
visitorsOfApps(stage);
daysOfTheSite(stage);
contextsOfPrograms(stage);
