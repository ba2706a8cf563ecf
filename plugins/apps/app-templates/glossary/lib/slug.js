/** A short text for addresses: "Café au lait" becomes "cafe-au-lait". @param {unknown} text */
export function slug(text) {
  const plain = String(text)
    .normalize('NFD')
    .toLowerCase()
    .replace(/\p{Mark}/gu, '');
  const words = plain.match(/[a-z0-9]+/g) ?? ['term'];
  return words.join('-').slice(0, 80);
}
