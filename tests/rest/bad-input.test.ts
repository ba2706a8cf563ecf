import { useStage } from '../support/hooks';
import { useOpenApi } from '../support/openapi';
import { wrongBodies } from './bad-input/bodies';
import { wrongCredentials } from './bad-input/credentials';
import { wrongForms } from './bad-input/forms';
import { wrongNumbers } from './bad-input/numbers';
import { wrongText } from './bad-input/text';

const stage = useStage();
useOpenApi(stage);

wrongBodies(stage);
wrongNumbers(stage);
wrongText(stage);
wrongForms(stage);
wrongCredentials(stage);
