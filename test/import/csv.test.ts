import { expect, test } from 'vitest';
import { readCsv } from '../../src/import/csv.ts';
import { createCsvForm } from '../../src/import/csv-form.ts';
import { MAX_LINE_BYTES } from '../../src/import/lines.ts';
import { ProfileRecordBody, parseProfile } from '../../src/import/profiles/record.ts';
import { NamedTransactionBody } from '../../src/import/transactions/record.ts';
import { collect } from './collect.ts';

function entriesOf(content: string | Buffer, size = 11) {
  return collect(content, size, (lines) => readCsv(lines, { toValue: (cells) => cells, columnOf: (name) => name }));
}

test('cells belong to the names of the header; quoted ones hold commas, quotes and line ends', async () => {
  expect(await entriesOf('a,b\r\n1,2\r\n\r\n"x,""y""\nz",3\n4,')).toEqual([
    { line: 2, value: { a: '1', b: '2' } },
    { line: 4, value: { a: 'x,"y"\nz', b: '3' } },
    { line: 6, value: { a: '4', b: '' } },
  ]);
});

test('blank lines are skipped, except those within quotes', async () => {
  expect(await entriesOf(' \na,b\n\t \r\n1,2\n  \n"x\n \ny",3\n ')).toEqual([
    { line: 4, value: { a: '1', b: '2' } },
    { line: 6, value: { a: 'x\n \ny', b: '3' } },
  ]);
});

test('a line end within quotes is kept as it is written', async () => {
  expect(await entriesOf('a,b\n"x\r\ny","p\nq"\n"\r\n","\r"\r\n')).toEqual([
    { line: 2, value: { a: 'x\r\ny', b: 'p\nq' } },
    { line: 5, value: { a: '\r\n', b: '\r' } },
  ]);
});

test('spaces around the names of the header do not count, and those of a cell do', async () => {
  expect(await entriesOf('a, b ,"c "\n1, 2 ,3')).toEqual([{ line: 2, value: { a: '1', b: ' 2 ', c: '3' } }]);
});

test('a name in the header may continue on the next line', async () => {
  expect(await entriesOf('a,"b\nc"\n1,2\n"u\nv",3')).toEqual([
    { line: 3, value: { a: '1', 'b\nc': '2' } },
    { line: 4, value: { a: 'u\nv', 'b\nc': '3' } },
  ]);
});

test('a record with too few or too many cells is reported', async () => {
  expect(await entriesOf('a,b\n1\n1,2,3\n5,6')).toEqual([
    { line: 2, fault: 'The record has 1 cell; the header has 2.', text: '1' },
    { line: 3, fault: 'The record has 3 cells; the header has 2.', text: '1,2,3' },
    { line: 4, value: { a: '5', b: '6' } },
  ]);
});

test('a record with too many cells does not set the width by which quotes are judged', async () => {
  expect(await entriesOf('a,b\n1,2,3\n"x\ny",4\n')).toEqual([
    { line: 2, fault: 'The record has 3 cells; the header has 2.', text: '1,2,3' },
    { line: 3, value: { a: 'x\ny', b: '4' } },
  ]);
});

test('misplaced quotes cost one line, not the rest of the file', async () => {
  const fault = 'The quotes of the record do not match up.';
  expect(await entriesOf('a,b\n1,"x"y\n"never closed,2\n3,4\nq"uote,5\n"6",7\n')).toEqual([
    { line: 2, fault, text: '1,"x"y' },
    { line: 3, fault, text: '"never closed,2' },
    { line: 4, value: { a: '3', b: '4' } },
    { line: 5, fault, text: 'q"uote,5' },
    { line: 6, value: { a: '6', b: '7' } },
  ]);
});

test('a carriage return alone between quotes ends no record: nothing after it is lost', async () => {
  expect(await entriesOf('a\n"x"\r"y"\n"z"\n')).toEqual([
    { line: 2, fault: 'The quotes of the record do not match up.', text: '"x"\r"y"' },
    { line: 3, value: { a: 'z' } },
  ]);
});

test('two quotes that do not belong together cost one line each, not the lines between them', async () => {
  const fault = 'Read with its quotes, the record would span 4 lines and have 1 cell; the header has 2.';
  expect(await entriesOf('a,b\n"u5,DE\nu6,FR\nu7,GB\nu8,x"\n"u9\nu9",IT\n')).toEqual([
    { line: 2, fault, text: '"u5,DE' },
    { line: 3, value: { a: 'u6', b: 'FR' } },
    { line: 4, value: { a: 'u7', b: 'GB' } },
    { line: 5, fault: 'The quotes of the record do not match up.', text: 'u8,x"' },
    { line: 6, value: { a: 'u9\nu9', b: 'IT' } },
  ]);
});

test('a quote that is not closed within 1 MiB costs one line', async () => {
  const row = `${'x'.repeat(1000)},2\n`;
  const count = Math.ceil(MAX_LINE_BYTES / row.length) + 10;
  const entries = await entriesOf(`a,b\n"open,1\n${row.repeat(count)}`, 1 << 16);
  expect(entries[0]).toMatchObject({ line: 2, fault: 'A quote in the record is not closed within 1 MiB.' });
  expect(entries).toHaveLength(count + 1);
  expect(entries.at(-1)).toEqual({ line: count + 2, value: { a: 'x'.repeat(1000), b: '2' } });
});

test('a record of 1 MiB is read, whether it takes one line or two', async () => {
  const longest = 'x'.repeat(MAX_LINE_BYTES);
  const [first, second] = [longest.slice(0, 10), longest.slice(12)];
  expect(await entriesOf(`a\n${longest}\n"${first}\n${second}"\n`, 1 << 16)).toEqual([
    { line: 2, value: { a: longest } },
    { line: 3, value: { a: `${first}\n${second}` } },
  ]);
});

test('a line of more than 1 MiB is rejected by itself, with or without a quote before it', async () => {
  const long = 'x'.repeat(MAX_LINE_BYTES + 1);
  const fault = 'The record is longer than 1 MiB.';
  expect(await entriesOf(`a\n1\n${long}\n2\n"open\n${long}\n3\n`, 1 << 16)).toMatchObject([
    { line: 2, value: { a: '1' } },
    { line: 3, fault },
    { line: 4, value: { a: '2' } },
    { line: 5, fault: 'A quote in the record is not closed within 1 MiB.' },
    { line: 6, fault },
    { line: 7, value: { a: '3' } },
  ]);
});

test('cells that are not UTF-8 are reported', async () => {
  const content = Buffer.concat([Buffer.from('a\n'), Buffer.from([0xe9, 0x0a]), Buffer.from('é\n')]);
  expect(await entriesOf(content)).toEqual([
    { line: 2, fault: 'The record is not UTF-8 text.', text: '\uFFFD' },
    { line: 3, value: { a: 'é' } },
  ]);
});

test('a file that has a column twice is refused', async () => {
  await expect(entriesOf('a,b,a\n1,2,3')).rejects.toThrow('The CSV has the column "a" twice.');
});

test.each([
  'attribution_user_id,attribution_attribution_user_id',
  'attribution_attribution_user_id,country,attribution_user_id',
])('a file that has a column under both of its names is refused: %s', async (header) => {
  const read = collect(`${header}\n`, 11, (lines) => readCsv(lines, createCsvForm(ProfileRecordBody)));
  await expect(read).rejects.toThrow('The CSV has the column "attribution_attribution_user_id" twice.');
});

test('columns without a name are skipped, however many there are', async () => {
  expect(await entriesOf('a,,\n1,2,3\n')).toMatchObject([{ line: 2, value: { a: '1' } }]);
});

test('lines that end in CR alone are reported, not taken for a header', async () => {
  const message = 'The lines of the CSV end in CR alone; they must end in LF or CRLF.';
  await expect(entriesOf('a,b\r1,2\r3,2\r')).rejects.toThrow(message);
  await expect(entriesOf('a,b\r"1",2\r3,2\r')).rejects.toThrow(message);
  expect(await entriesOf('"a\r\nb",c\r\n1,2\r\n')).toMatchObject([{ value: { c: '2' } }]);
});

test('of a text that cannot be read, two hundred whole characters are kept', async () => {
  expect(await entriesOf(`a\n"${'é'.repeat(300)}\n`)).toMatchObject([{ text: `"${'é'.repeat(199)}` }]);
  // No half of a surrogate pair is written to the rejects file.
  expect(await entriesOf(`a\n"${'x'.repeat(198)}💡\n`)).toMatchObject([{ text: `"${'x'.repeat(198)}\uFFFD` }]);
});

test('an empty file has no records', async () => {
  expect(await entriesOf('')).toEqual([]);
});

test('nested members are columns joined by _, including free members; an empty cell is absent', () => {
  const { toValue: read } = createCsvForm(ProfileRecordBody);
  expect(
    read({
      customer_user_id: 'ann',
      country: '',
      attribution_status: 'organic',
      attribution_ad_group: 'g',
      attribution_user_id: 'u-1',
      custom_attributes_plan: 'gold',
      custom_attributes_a_b: '7',
      stranger: 'x',
      ['__proto__']: 'x',
    }),
  ).toEqual({
    customer_user_id: 'ann',
    attribution: { status: 'organic', ad_group: 'g', attribution_user_id: 'u-1' },
    custom_attributes: { plan: 'gold', a_b: '7' },
  });
});

test.each([
  ['before', { custom_attributes: 'abc', custom_attributes_plan: 'gold' }],
  ['after', { custom_attributes_plan: 'gold', custom_attributes: 'abc' }],
])('text in the column of a whole object, %s its members, is refused and not taken apart', (_, cells) => {
  const { toValue: read } = createCsvForm(ProfileRecordBody);
  expect(parseProfile(read({ customer_user_id: 'ann', ...cells }))).toMatchObject({
    errors: [{ source: 'custom_attributes', message: 'Must be an object or an array or null.' }],
  });
});

test('numbers and booleans are read according to the type of the member; anything else stays text', () => {
  const { toValue: read } = createCsvForm(NamedTransactionBody);
  expect(
    read({
      price_value: '9.99',
      price_value_usd: '1e1',
      price_tax_usd: '1,5',
      price_proceeds_usd: '007',
      renew_status: 'TRUE',
      is_family_shared: 'yes',
      store_transaction_id: '12',
      offer_id: '5',
    }),
  ).toEqual({
    price: { value: 9.99, value_usd: 10, tax_usd: '1,5', proceeds_usd: '007' },
    renew_status: true,
    is_family_shared: 'yes',
    store_transaction_id: '12',
    offer: { id: '5' },
  });
});

test.each([
  ['-1.5', -1.5],
  ['25e-1', 2.5],
  ['1E+2', 100],
])('the cell %s of a number is read as JSON has it', (cell, price_value) => {
  const { toValue: read } = createCsvForm(NamedTransactionBody);
  expect(read({ price_value: cell })).toEqual({ price: { value: price_value } });
});

test('a number that JSON could not write into the rejects stays text', () => {
  const { toValue: read } = createCsvForm(NamedTransactionBody);
  expect(read({ price_value: '1E400' })).toEqual({ price: { value: '1E400' } });
});

test.each([
  ['semicolons', 'customer_user_id;country\nann;DE\n', 'customer_user_id;country'],
  ['tabs', 'customer_user_id\tcountry\nann\tDE\n', 'customer_user_id\\tcountry'],
  ['the separator line of a spreadsheet', 'sep=,\ncustomer_user_id,country\nann,DE\n', 'sep=,'],
  ['capitals', 'CUSTOMER_USER_ID,COUNTRY\nann,DE\n', 'CUSTOMER_USER_ID,COUNTRY'],
  ['no header', 'ann,DE\nbob,DE\n', 'ann,DE'],
  ['one long line, of which the beginning is shown', `${'x'.repeat(101)}\n`, 'x'.repeat(100)],
])('a header without any column that is read is refused: %s', async (_, content, shown) => {
  const read = collect(content, 11, (lines) => readCsv(lines, createCsvForm(ProfileRecordBody)));
  await expect(read).rejects.toThrow(`The first line of the CSV has no known column ("${shown}")`);
});

test.each([
  ['LF', '\n'],
  ['CRLF', '\r\n'],
])('UTF-16 is reported as UTF-16, with line ends of %s', async (_, end) => {
  const content = Buffer.from(`\ufeffcustomer_user_id,country${end}ann,DE${end}`, 'utf16le');
  await expect(entriesOf(content)).rejects.toThrow('The CSV must be in UTF-8; this file is in UTF-16');
});

test('skipped columns are reported, except those without a name', async () => {
  const reported: (readonly string[])[] = [];
  const form = {
    ...createCsvForm(ProfileRecordBody),
    onUnknownColumns: (names: readonly string[]) => reported.push(names),
  };
  await collect('customer_user_id,created_at,,attribution_campain\nann,,,\nbob,,,\n', 11, (lines) =>
    readCsv(lines, form),
  );
  expect(reported).toEqual([['created_at', 'attribution_campain']]);
});
