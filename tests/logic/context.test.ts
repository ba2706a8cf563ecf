import { useStage } from '../support/hooks';
import { contextOfLogic } from './context/context';
import { logOfLogic } from './context/log';
import { mailOfApps } from './context/mail';
import { ratesOfMails } from './context/mail-rates';
import { optionsOfApps } from './context/options';
import { visitorsOfApps } from './context/visitors';
import { writesOfLogic } from './context/writes';

const stage = useStage();

contextOfLogic(stage);
writesOfLogic(stage);
logOfLogic(stage);
optionsOfApps(stage);
mailOfApps(stage);
ratesOfMails(stage);
visitorsOfApps(stage);
