import { useStage } from '../support/hooks';
import { rightsToForms } from './rights/forms';
import { rightsToOperations } from './rights/operations';
import { rightsOfOwners } from './rights/owners';
import { viewPermission } from './rights/view-permission';

const stage = useStage();

rightsToOperations(stage);
rightsOfOwners(stage);
viewPermission(stage);
rightsToForms(stage);
