import { useStage } from '../support/hooks';
import { useOpenApi } from '../support/openapi';
import { creatingMany } from './collections/creating';
import { listing } from './collections/listing';
import { removingAll } from './collections/removing';
import { searching } from './collections/searching';
import { tables } from './collections/tables';
import { unknownNames } from './collections/unknown-names';

const stage = useStage();
useOpenApi(stage);

listing(stage);
creatingMany(stage);
removingAll(stage);
searching(stage);
unknownNames(stage);
tables(stage);
