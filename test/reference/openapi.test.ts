// The OpenAPI document, which is generated from the routes and catalogues.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { ONE_RUN } from '../../src/db/server-run.ts';
import type { Deps } from '../../src/deps.ts';
import { buildOpenApi } from '../../src/reference/openapi.ts';
import { listRoutes } from '../../src/routes.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
// Here routes only describe themselves; none is called.
const routes = listRoutes({ config: loadConfig({}), serverRun: ONE_RUN } as Deps);
const document = buildOpenApi(routes, version);

test('the document has every route under its documented path', () => {
  const described = Object.entries(document.paths as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(described.sort()).toEqual(routes.map(({ method, path }) => `${method} ${path}/`).sort());
});

test('only the chart operation is also answered as CSV', () => {
  const described = Object.entries(document.paths as Record<string, object>);
  const asCsv = described.filter(([, methods]) => JSON.stringify(methods).includes('text/csv'));
  expect(asCsv.map(([path]) => path)).toEqual(['/api/v1/client-api/metrics/analytics/']);
});

test('operation ids are unique', () => {
  const ids = [...JSON.stringify(document).matchAll(/"operationId":"(\w+)"/g)].map(([, id]) => id);
  expect(ids).toHaveLength(new Set(ids).size);
});

test('a document served apart from {base_url} says where its operations are', () => {
  const { paths } = buildOpenApi(routes, version, 'http://localhost:8092');
  const elsewhere = Object.entries(paths as Record<string, { servers?: [{ variables: object }] }>).flatMap(
    ([path, { servers }]) => (servers ? [[path, servers[0].variables]] : []),
  );
  const base = new Set(routes.filter(({ address }) => address === 'base').map(({ path }) => `${path}/`));
  expect(elsewhere.map(([path]) => path).sort()).toEqual([...base].sort());
  expect(elsewhere[0]?.[1]).toMatchObject({ base_url: { default: 'http://localhost:8092' } });
  expect(JSON.stringify(document)).not.toContain('localhost');
});
