import { useStage } from '../support/hooks';
import { useOpenApi } from '../support/openapi';
import { recordsWithABlock } from './records/blocks';
import { elements } from './records/elements';
import { oneRecord } from './records/one-record';
import { settings } from './records/settings';
import { versionsOfARecord } from './records/versions';

const stage = useStage();
useOpenApi(stage);

settings(stage);
elements(stage);
oneRecord(stage);
versionsOfARecord(stage);
recordsWithABlock(stage);
