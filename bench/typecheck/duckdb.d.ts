// What the benchmark uses of a package that it alone installs, so that `npm run check` reads the benchmark too, which uses much of src.
declare module '@duckdb/node-api' {
  export interface DuckDBConnection {
    run(sql: string): Promise<unknown>;
    runAndReadAll(sql: string): Promise<{ getRowObjectsJS(): unknown[] }>;
    closeSync(): void;
  }
  export const DuckDBInstance: { create(file: string): Promise<{ connect(): Promise<DuckDBConnection> }> };
}
