// A connection to the database that tests can cut and mend: a TCP proxy on loopback.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface CuttableProxy {
  /** Returns the address of the same database through the proxy. */
  throughProxy: (databaseUrl: string) => string;
  /** How many connections have been opened. */
  opened: () => number;
  /** Breaks every connection and refuses new ones. */
  cut: () => Promise<void>;
  mend: () => Promise<void>;
  /** Swallows everything that is sent, without closing anything, until `cut`. */
  swallow: () => void;
  /** Holds answers back until one that contains the text has come; then delivers them together. */
  holdUntil: (text: string) => void;
  close: () => Promise<void>;
}

export async function createCuttableProxy(): Promise<CuttableProxy> {
  let target = { host: '127.0.0.1', port: 5432 };
  const sockets = new Set<Socket>();
  const pairs = new Set<{ near: Socket; far: Socket }>();
  let isSwallowing = false;
  let opened = 0;
  const server = createServer((near) => {
    opened += 1;
    const far = connect(target);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
    const pair = { near, far };
    pairs.add(pair);
    near.on('close', () => pairs.delete(pair));
    if (!isSwallowing) near.pipe(far).pipe(near);
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;

  async function cut(): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets) socket.destroy();
    await closed;
    isSwallowing = false;
  }

  function swallow(): void {
    isSwallowing = true;
    for (const socket of sockets) socket.unpipe().resume();
  }

  function holdUntil(text: string): void {
    for (const { near, far } of pairs) {
      let held = Buffer.alloc(0);
      const hold = (answer: Buffer) => {
        held = Buffer.concat([held, answer]);
        if (!held.includes(text)) return;
        far.off('data', hold).pipe(near);
        near.write(held);
      };
      far.unpipe(near).on('data', hold).resume();
    }
  }

  return {
    throughProxy(databaseUrl) {
      const url = new URL(databaseUrl);
      target = { host: url.hostname, port: Number(url.port || 5432) };
      url.hostname = '127.0.0.1';
      url.port = String(port);
      return url.href;
    },
    opened: () => opened,
    cut,
    mend: () => listen(port),
    swallow,
    holdUntil,
    close: async () => {
      if (server.listening) await cut();
    },
  };
}
