// Compression of answers, for operations that ask for it. Brotli at its default quality takes seconds per megabyte.
import { constants } from 'node:zlib';
import compress from '@fastify/compress';
import type { FastifyInstance } from 'fastify';

const BROTLI_QUALITY = 4;

/** Gives `register` an app within the app, where routes may ask for it: the plugin puts a hook before every route it sees. */
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
