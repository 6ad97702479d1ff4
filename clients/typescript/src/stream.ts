import { PawlError } from "./error.js";

/** How the server is reached. */
export interface Way {
  url: string;
  headers: Record<string, string>;
  fetch: typeof globalThis.fetch;
}

/** A message of a stream. */
export interface Message {
  /** The ID to resume after; "" if it has none. */
  id: string;
  data: unknown;
}

/** Why a connection ended that may be made again. */
export class Cut extends Error {}

/** A stream to read, and what its messages mean. */
export interface Source<T> {
  path: string;
  /** Returns the ID of the message to resume after; "" starts from the beginning. It is called once per connection. */
  resume(): string;
  /** Applies a message. Returns undefined for one that the reader need not see; throws Cut to connect again. */
  accept(message: Message): T | undefined;
}

/** Reads a stream until the signal or the loop ends. Connects again when the connection breaks. */
export async function* follow<T>(way: Way, source: Source<T>, signal?: AbortSignal): AsyncGenerator<T, void, undefined> {
  let failures = 0; // in a row
  let began = false; // a server that never answered is an error; one that did is expected to come back
  while (!signal?.aborted) {
    try {
      const body = await open(way, source.path, source.resume(), signal);
      began = true;
      failures = 0;
      for await (const message of readMessages(body)) {
        const value = source.accept(message);
        if (value !== undefined) yield value;
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (!worthAnother(error, began)) throw error;
    }
    await pause(failures++, signal);
  }
}

function worthAnother(error: unknown, began: boolean): boolean {
  if (error instanceof PawlError) {
    return error.code === "limited" || (began && error.code === "unavailable");
  }
  return error instanceof Cut || began;
}

/** Opens a stream after a message. */
async function open(way: Way, path: string, last: string, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>> {
  const headers: Record<string, string> = { ...way.headers, Accept: "text/event-stream" };
  if (last) headers["Last-Event-ID"] = last;
  const answer = await way.fetch(way.url + path, { headers, redirect: "error", ...(signal && { signal }) });
  if (!answer.ok || !answer.body) {
    throw PawlError.of(answer.status, await answer.json().catch(() => undefined));
  }
  return answer.body;
}

/** Yields the messages of one connection, to its end. */
async function* readMessages(body: ReadableStream<Uint8Array>): AsyncGenerator<Message, void, undefined> {
  let fault = false;
  let id = "";
  for await (const line of readLines(body)) {
    if (line === "event: error") {
      fault = true;
    } else if (line.startsWith("id: ")) {
      id = line.slice("id: ".length);
    } else if (line.startsWith("data: ")) {
      const data: unknown = JSON.parse(line.slice("data: ".length));
      if (fault) throw PawlError.of(0, data);
      yield { id, data };
      id = "";
    }
  }
}

/** Yields the lines of a stream. A last one without an end was cut off, and is left out. */
async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const pieces: string[] = []; // of a line whose end has not come
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const [first = "", ...rest] = decoder.decode(value, { stream: true }).split("\n");
      pieces.push(first);
      for (const next of rest) {
        yield pieces.splice(0).join("");
        pieces.push(next);
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined); // the connection may be gone
  }
}

const firstPause = 100; // milliseconds
const longestPause = 5_000;

/** Waits between two attempts, longer each time. */
function pause(attempt: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, Math.min(firstPause * 2 ** attempt, longestPause));
    signal?.addEventListener("abort", end);
  });
}
