// The part of @duckdb/node-api that the benchmark uses. Only the benchmark installs the package; with these
// declarations `npm run check` checks the benchmark too, which uses much of src.
declare module '@duckdb/node-api' {
  export interface DuckDBConnection {
    run(sql: string): Promise<unknown>;
    runAndReadAll(sql: string): Promise<{ getRowObjectsJS(): unknown[] }>;
    closeSync(): void;
  }
  export const DuckDBInstance: { create(file: string): Promise<{ connect(): Promise<DuckDBConnection> }> };
}
