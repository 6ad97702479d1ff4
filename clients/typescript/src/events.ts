import { PawlError } from "./error.js";
import type { components } from "./schema.js";

type Event = components["schemas"]["Event"];

/** From where on to watch, and until when. */
export interface FollowOptions {
  /** Only events with a greater number; left out, all of them. */
  after?: number;
  /** Ends the watching, without an error. */
  signal?: AbortSignal;
}

/** How the server is reached. */
export interface Way {
  url: string;
  headers: Record<string, string>;
  fetch: typeof globalThis.fetch;
}

/** Why a connection ended that may be made again. */
class Cut extends Error {}

/** Watches a session: see Pawl.events. */
export async function* follow(way: Way, session: string, options: FollowOptions = {}): AsyncGenerator<Event, void, undefined> {
  let last = options.after ?? 0;
  let failures = 0; // in a row
  let began = false; // a server that was never there is told; one that was comes back
  while (!options.signal?.aborted) {
    try {
      const body = await open(way, session, last, options.signal);
      began = true;
      failures = 0;
      for await (const event of readEvents(body)) {
        const seq = "seq" in event ? event.seq : undefined;
        if (seq !== undefined) {
          if (seq <= last) continue;
          if (seq !== last + 1) throw new Cut("the server left something out");
          last = seq;
        }
        yield event;
      }
    } catch (error) {
      if (options.signal?.aborted) return;
      if (!worthAnother(error, began)) throw error;
    }
    await pause(failures++, options.signal);
  }
}

function worthAnother(error: unknown, began: boolean): boolean {
  if (error instanceof PawlError) {
    return error.code === "limited" || (began && error.code === "unavailable");
  }
  return error instanceof Cut || began;
}

/** Asks for the events after a number. */
async function open(way: Way, session: string, last: number, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>> {
  const address = `${way.url}/v1/sessions/${encodeURIComponent(session)}/events`;
  const headers: Record<string, string> = { ...way.headers, Accept: "text/event-stream" };
  if (last > 0) headers["Last-Event-ID"] = String(last);
  const answer = await way.fetch(address, { headers, redirect: "error", ...(signal && { signal }) });
  if (!answer.ok || !answer.body) {
    throw PawlError.of(answer.status, await answer.json().catch(() => undefined));
  }
  return answer.body;
}

/** Yields the events of one connection, to its end. */
async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<Event, void, undefined> {
  let fault = false;
  for await (const line of readLines(body)) {
    if (line === "event: error") {
      fault = true;
    } else if (line.startsWith("data: ")) {
      const data: unknown = JSON.parse(line.slice("data: ".length));
      if (fault) throw PawlError.of(0, data);
      yield data as Event;
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
