/**
 * A short text for addresses: "Café au lait" becomes "cafe-au-lait".
 * @param {unknown} text
 */
export function slug(text) {
  const plain = String(text).normalize('NFD').toLowerCase();
  return (
    plain
      .replace(/\p{Mark}/gu, '')
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 80) || 'term'
  );
}
