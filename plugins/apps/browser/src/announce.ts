const hidden =
  'position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap';

let region: HTMLElement | undefined;

/** Tells screen readers what has changed, without moving the focus. */
export function announce(text: string): void {
  const place = region?.isConnected ? region : document.createElement('div');
  if (place !== region) {
    place.setAttribute('role', 'status');
    place.style.cssText = hidden;
    document.body.append(place);
    region = place;
  }
  place.textContent = '';
  // A text that is there from the beginning, or that was there before, is not read out.
  setTimeout(() => {
    place.textContent = text;
  }, 50);
}
