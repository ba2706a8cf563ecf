import { Button, Field, Flex, Modal, SingleSelect, SingleSelectOption } from '@strapi/design-system';
import { Plus } from '@strapi/icons';
import { type FormEvent, useState } from 'react';
import { useNavigate } from 'react-router-dom';
import type { SiteOverview } from '../../../../shared/admin-api';
import { useErrorText } from '../../api/base';
import { useAppsAppTemplatesQuery, useAppsCreateAppMutation } from '../../api/code';
import { useText } from '../../plugin';
import { appPath } from '../app/tabs';

/** The choice of no template: the name of no folder. */
const NONE = '/';

/** A button that makes an app in the site's theme, and opens its files. */
export function NewApp({ site }: { site: SiteOverview }) {
  const text = useText();
  const [isOpen, setOpen] = useState(false);
  return (
    <Modal.Root open={isOpen} onOpenChange={setOpen}>
      <Modal.Trigger>
        <Button variant="secondary" startIcon={<Plus />}>
          {text('app.new')}
        </Button>
      </Modal.Trigger>
      <Modal.Content>
        <Modal.Header>
          <Modal.Title>{text('app.new')}</Modal.Title>
        </Modal.Header>
        <NewAppForm site={site} />
      </Modal.Content>
    </Modal.Root>
  );
}

/** The server's errors are shown at the id, which they are about. */
function NewAppForm({ site }: { site: SiteOverview }) {
  const text = useText();
  const textOf = useErrorText();
  const navigate = useNavigate();
  const [app, setApp] = useState('');
  const [template, setTemplate] = useState(NONE);
  const { data: templates = [] } = useAppsAppTemplatesQuery();
  const [create, { error, isLoading, reset }] = useAppsCreateAppMutation();
  const change = (entered: string) => {
    reset();
    setApp(entered);
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const made = await create({ site: site.id, app, template: template === NONE ? null : template });
    if ('data' in made) navigate(appPath(site.id, app, 'code'));
  };
  return (
    <form onSubmit={submit} noValidate>
      <Modal.Body>
        <Flex direction="column" alignItems="stretch" gap={4}>
          <Field.Root name="app" required hint={text('app.new.id.hint')} error={textOf(error) ?? undefined}>
            <Field.Label>{text('app.new.id')}</Field.Label>
            <Field.Input value={app} onChange={({ target }) => change(target.value)} maxLength={80} />
            <Field.Hint />
            <Field.Error />
          </Field.Root>
          <Field.Root name="template">
            <Field.Label>{text('app.new.template')}</Field.Label>
            <SingleSelect value={template} onChange={(chosen) => setTemplate(String(chosen))}>
              <SingleSelectOption value={NONE}>{text('app.new.template.none')}</SingleSelectOption>
              {templates.map((name) => (
                <SingleSelectOption key={name} value={name}>
                  {name}
                </SingleSelectOption>
              ))}
            </SingleSelect>
          </Field.Root>
        </Flex>
      </Modal.Body>
      <Modal.Footer>
        <Modal.Close>
          <Button variant="tertiary">{text('close')}</Button>
        </Modal.Close>
        <Button type="submit" loading={isLoading} disabled={app === ''}>
          {text('app.new.make')}
        </Button>
      </Modal.Footer>
    </form>
  );
}
