import { useStage } from '../support/hooks';
import { conditions } from './fields/conditions';
import { moreFields } from './fields/more';
import { rendering } from './fields/rendering';
import { storage } from './fields/storage';
import { validation } from './fields/validation';

const stage = useStage();

storage(stage);
validation(stage);
rendering(stage);
moreFields(stage);
conditions(stage);
