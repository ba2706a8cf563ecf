import { readableMoment } from '../../../common/values/moments';
import type { PageLocale } from '../../locales';
import type { Places } from '../../types';
import type { PlaceCode } from '../refusals';

/** Placeholders of the texts `closed` and `full`. */
const PLACEHOLDER = /\{(opens|closes|limit)\}/g;

/**
 * What a visitor reads where a block has no place: the text of its definition, else the service's own. Times are those of the site, in
 * its language.
 */
export function placeText(places: Places, code: PlaceCode, locale: PageLocale): string {
  const { opens, closes, limit, closed, full } = places;
  const values = {
    opens: opens ? readableMoment(opens.shown, locale) : '',
    closes: closes ? readableMoment(closes.shown, locale) : '',
    limit: limit === null ? '' : String(limit),
  };
  const given = { full: full ?? closed, closed, not_open: closed, once: null }[code];
  if (given === null) return locale.say(`place_${code}`, values);
  return given.replace(PLACEHOLDER, (_, name: keyof typeof values) => values[name]);
}
