const hidden =
  'position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap';

let region: HTMLElement | undefined;

/** Announces a change to screen readers, without moving the focus. */
export function announce(text: string): void {
  const status = region?.isConnected ? region : document.createElement('div');
  if (status !== region) {
    status.setAttribute('role', 'status');
    status.style.cssText = hidden;
    document.body.append(status);
    region = status;
  }
  status.textContent = '';
  // Screen readers do not read out a text that the element has from the beginning, or had before.
  setTimeout(() => {
    status.textContent = text;
  }, 50);
}
