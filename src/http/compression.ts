// Compresses responses of operations that ask for it. At its default quality, Brotli takes seconds per megabyte.
import { constants } from 'node:zlib';
import compress from '@fastify/compress';
import type { FastifyInstance } from 'fastify';

const BROTLI_QUALITY = 4;

/**
 * Calls `register` with a nested app whose routes may ask for compression. It is nested because the plugin adds a hook
 * to every route it sees.
 */
export async function withCompression(app: FastifyInstance, register: (inner: FastifyInstance) => void): Promise<void> {
  await app.register(async (inner) => {
    await inner.register(compress, {
      global: false,
      globalDecompression: false,
      threshold: 1024,
      brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } },
    });
    register(inner as unknown as FastifyInstance);
  });
}
