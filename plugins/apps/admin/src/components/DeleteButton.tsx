import { Dialog, IconButton } from '@strapi/design-system';
import { Trash } from '@strapi/icons';
import { ConfirmDialog } from '@strapi/strapi/admin';

interface Props {
  /** What the button does, for screen readers. */
  label: string;
  /** What is asked before it is done. */
  question: string;
  onDelete(): Promise<void>;
}

/** Deletes something, after asking. */
export function DeleteButton({ label, question, onDelete }: Props) {
  return (
    <Dialog.Root>
      <Dialog.Trigger>
        <IconButton label={label} variant="ghost">
          <Trash />
        </IconButton>
      </Dialog.Trigger>
      <ConfirmDialog onConfirm={onDelete}>{question}</ConfirmDialog>
    </Dialog.Root>
  );
}
