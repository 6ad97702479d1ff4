/** The way to a server on a socket, for Node. */
import { request as httpRequest, type IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeStream } from "node:stream/web";

/** Returns a fetch that goes to a socket, whatever name the address has. */
export function unixFetch(socketPath: string): typeof globalThis.fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    const out = httpRequest({
      socketPath,
      method: request.method,
      path: url.pathname + url.search,
      headers: Object.fromEntries(request.headers),
      signal: request.signal,
    });
    const answer = new Promise<IncomingMessage>((resolve, reject) => {
      out.once("response", resolve);
      out.once("error", reject);
    });
    if (request.body) {
      // A server may refuse before the end: then the answer counts, and else the error is told there.
      pipeline(Readable.fromWeb(request.body as NodeStream), out).catch(() => undefined);
    } else {
      out.end();
    }
    return toResponse(await answer);
  };
}

function toResponse(answer: IncomingMessage): Response {
  const headers = new Headers();
  for (const [name, values] of Object.entries(answer.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  const status = answer.statusCode ?? 0;
  if (status === 204 || status === 304) {
    answer.resume();
    return new Response(null, { status, headers });
  }
  return new Response(Readable.toWeb(answer) as ReadableStream<Uint8Array>, { status, headers });
}
