/** A scenario as a picture: a dot for each server on a logarithmic scale, with its spread. */

const width = 760;
const left = 210;
const right = 110;
const rowHeight = 26;
const top = 34;

const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const decades = (low, high) => Array.from({ length: high - low + 1 }, (_, at) => 10 ** (low + at));
const colour = ({ name, limit }) => (name === 'plugin' ? '#4945ff' : limit ? '#8e8ea9' : '#d9822f');

export const written = (value) =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(value < 1 ? 2 : 3);

/** @param rows rows of measure.mjs with figures. @returns the text of an SVG */
export function chart(title, unit, rows) {
  const low = Math.floor(Math.log10(Math.min(...rows.map(({ range }) => range[0]))));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...rows.map(({ range }) => range[1])))));
  const x = (value) => (left + ((Math.log10(value) - low) / (high - low)) * (width - left - right)).toFixed(1);
  const height = top + rows.length * rowHeight + 28;
  const grid = decades(low, high).map(
    (value) => `<line x1="${x(value)}" x2="${x(value)}" y1="${top}" y2="${height - 26}" stroke="#dcdce4"/>
<text x="${x(value)}" y="${height - 10}" text-anchor="middle" fill="#666687">${value.toLocaleString('en')}</text>`,
  );
  const dots = rows.map(({ server, rate, range }, at) => {
    const y = top + at * rowHeight + rowHeight / 2;
    return `<text x="${left - 10}" y="${y + 4}" text-anchor="end">${escaped(server.title)}</text>
<line x1="${x(range[0])}" x2="${x(range[1])}" y1="${y}" y2="${y}" stroke="${colour(server)}" stroke-width="3"/>
<circle cx="${x(rate)}" cy="${y}" r="6" fill="${colour(server)}"/>
<text x="${width - 6}" y="${y + 4}" text-anchor="end">${written(rate)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" font-family="sans-serif" font-size="13" fill="#32324d">
<title>${escaped(title)}</title>
<rect width="${width}" height="${height}" fill="#ffffff"/>
<text x="10" y="20" font-weight="bold">${escaped(title)}</text>
<text x="${width - 6}" y="20" text-anchor="end" fill="#666687">${escaped(unit)}, logarithmic</text>
${[...grid, ...dots].join('\n')}
</svg>
`;
}
