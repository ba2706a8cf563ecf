import { Button } from '@strapi/design-system';
import { useText } from '../plugin';
import { widths } from './PageFrame';

export type Width = keyof typeof widths;

/** The choice of the width at which a page is shown. */
export function WidthButtons({ width, onChoose }: { width: Width; onChoose(width: Width): void }) {
  const text = useText();
  return (Object.keys(widths) as Width[]).map((one) => (
    <Button
      key={one}
      variant={one === width ? 'secondary' : 'tertiary'}
      aria-pressed={one === width}
      onClick={() => onChoose(one)}
    >
      {text(`code.preview.${one}`)}
    </Button>
  ));
}
