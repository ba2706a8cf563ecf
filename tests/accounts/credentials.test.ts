import { useStage, useTwin } from '../support/hooks';
import { deletedRole } from './credentials/deleted-role';
import { kindsOfCredentials } from './credentials/kinds';
import { login } from './credentials/login';
import { revokedCredentials } from './credentials/revoked';

const stage = useStage();

/** A second process on the same database. */
const twin = useTwin(stage);

kindsOfCredentials(stage);
revokedCredentials(stage, twin);
deletedRole(stage, twin);
login(stage, twin);
