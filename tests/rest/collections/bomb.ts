import { constants, deflateRawSync } from 'node:zlib';

const MB = 1024 ** 2;

/** One file of a ZIP, compressed already. */
interface Part {
  name: string;
  bytes: Buffer;
  /** Bytes that the ZIP says it has, unpacked. */
  size: number;
}

const part = (name: string, text: string): Part => ({
  name,
  bytes: deflateRawSync(text),
  size: Buffer.byteLength(text),
});

/** A ZIP of parts without their checksums: the file is refused before they are read. */
function zipOf(parts: readonly Part[]): Buffer {
  const [files, directory]: [Buffer[], Buffer[]] = [[], []];
  let at = 0;
  for (const { name, bytes, size } of parts) {
    // Version 2.0, no flags, deflated; time, date and checksum are zero.
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(bytes.length, 14);
    common.writeUInt32LE(size, 18);
    common.writeUInt16LE(name.length, 22);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(at, 10);
    files.push(Buffer.from('PK\x03\x04'), common, Buffer.from(name), bytes);
    directory.push(Buffer.from('PK\x01\x02\x14\x00'), common, rest, Buffer.from(name));
    at += 30 + name.length + bytes.length;
  }
  const end = Buffer.alloc(18);
  end.writeUInt16LE(parts.length, 4);
  end.writeUInt16LE(parts.length, 6);
  end.writeUInt32LE(Buffer.concat(directory).length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...files, ...directory, Buffer.from('PK\x05\x06'), end]);
}

/**
 * A workbook of some megabytes whose sheet has 2 GB when it is unpacked.
 * @param claimed bytes that the ZIP says
 */
export function bomb(claimed: number): Buffer {
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
  const rel = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const cells = '<row><c><v>1</v></c></row>'.repeat(Math.ceil((64 * MB) / 26));
  const blocks = Array<Buffer>(32).fill(deflateRawSync(cells, { finishFlush: constants.Z_FULL_FLUSH }));
  const begin = deflateRawSync(`<worksheet xmlns="${main}"><sheetData>`, { finishFlush: constants.Z_FULL_FLUSH });
  return zipOf([
    part(
      '[Content_Types].xml',
      '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>',
    ),
    part(
      'xl/workbook.xml',
      `<workbook xmlns="${main}" xmlns:r="${rel}"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    ),
    part(
      'xl/_rels/workbook.xml.rels',
      `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="${rel}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
    ),
    {
      name: 'xl/worksheets/sheet1.xml',
      bytes: Buffer.concat([begin, ...blocks, deflateRawSync('</sheetData></worksheet>')]),
      size: claimed,
    },
  ]);
}
