import { MenuItem, SimpleMenu } from '@strapi/design-system';
import { Download } from '@strapi/icons';
import { useFetchClient } from '@strapi/strapi/admin';
import type { AppDetail } from '../../../../../../shared/admin-api';
import type { Separator } from '../../../../../../shared/cells';
import { address, useAction } from '../../../../api/base';
import { useText } from '../../../../plugin';
import { saveFile } from '../../../../save-file';

/** Saves the records that the query finds as a file. */
export function ExportMenu({ app, query }: { app: AppDetail; query: string }) {
  const text = useText();
  const act = useAction();
  const { get } = useFetchClient();
  const save = (format: 'csv' | 'xlsx' | 'ndjson', separator?: Separator) =>
    act(async () => {
      const url = address('exportRecords', { site: app.site, app: app.id });
      const { data } = await get(url, { params: { format, query, separator }, responseType: 'blob' });
      saveFile(data, `${app.id}.${format}`);
    });
  return (
    <SimpleMenu label={text('export')} startIcon={<Download />} variant="tertiary">
      <MenuItem onSelect={() => save('csv')}>CSV</MenuItem>
      <MenuItem onSelect={() => save('csv', 'semicolon')}>{text('export.semicolon')}</MenuItem>
      <MenuItem onSelect={() => save('xlsx')}>Excel (XLSX)</MenuItem>
      <MenuItem onSelect={() => save('ndjson')}>NDJSON</MenuItem>
    </SimpleMenu>
  );
}
