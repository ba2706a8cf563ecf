import { useStage } from '../support/hooks';
import { actions } from './block-pages/actions';
import { onDisplay } from './block-pages/display';
import { rightsOfRecordPages } from './block-pages/rights';
import { saving } from './block-pages/saving';

const stage = useStage();

saving(stage);
rightsOfRecordPages(stage);
actions(stage);
onDisplay(stage);
