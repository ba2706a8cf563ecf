import { Checkbox, Dialog, Flex, IconButton, Typography } from '@strapi/design-system';
import { Trash } from '@strapi/icons';
import { ConfirmDialog } from '@strapi/strapi/admin';
import { useState } from 'react';

interface Props {
  /** Label of the button, for screen readers. */
  label: string;
  /** The question that must be confirmed first. */
  question: string;
  /** A checkbox beside the question, checked at first. */
  option?: string;
  onDelete(chosen: boolean): Promise<unknown>;
}

/** Deletes something after a confirmation. */
export function DeleteButton({ label, question, option, onDelete }: Props) {
  const [chosen, setChosen] = useState(true);
  return (
    <Dialog.Root>
      <Dialog.Trigger>
        <IconButton label={label} variant="ghost">
          <Trash />
        </IconButton>
      </Dialog.Trigger>
      <ConfirmDialog onConfirm={async () => void (await onDelete(chosen))}>
        {option ? (
          <Flex direction="column" gap={4}>
            <Typography>{question}</Typography>
            <Checkbox checked={chosen} onCheckedChange={(checked) => setChosen(checked === true)}>
              {option}
            </Checkbox>
          </Flex>
        ) : (
          question
        )}
      </ConfirmDialog>
    </Dialog.Root>
  );
}
