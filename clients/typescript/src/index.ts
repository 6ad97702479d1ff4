/**
 * Sessions of pawl from TypeScript. What `pawl serve` offers is described by its
 * OpenAPI document, from which the types here are made; see connect.
 */
import createClient, { type Client } from "openapi-fetch";

import { PawlError, type Fault } from "./error.js";
import { follow, type FollowOptions } from "./events.js";
import type { components, paths } from "./schema.js";

export { PawlError, type Code, type Fault } from "./error.js";
export type { FollowOptions } from "./events.js";
export type { components, operations, paths } from "./schema.js";

type Schemas = components["schemas"];

/** What happened in a session. Its `type` says which body it has. */
export type Event = Schemas["Event"];
export type Session = Schemas["Session"];
export type Prompt = Schemas["Prompt"];
export type Part = Schemas["Part"];
export type Answer = Schemas["Answer"];

/** Where the server is, and who asks. */
export interface Config {
  /** http://host:port. On a socket any name will do. */
  url: string;
  /** Left out, none is sent, which is enough for a socket of the same user. */
  token?: string;
  /** How to get there: for a socket, unixFetch of "@pawl-dev/client/unix". */
  fetch?: typeof globalThis.fetch;
}

/** A server that can be asked. */
export interface Pawl {
  /** Every route of the document, by its path: `api.POST("/v1/sessions", { body })`. */
  api: Client<paths>;

  /**
   * The events after a number, then those that come, until the signal or the
   * loop ends. When the connection breaks off it goes on with the next event as
   * soon as it can: of those of the log none is missing and none comes twice.
   */
  events(session: string, options?: FollowOptions): AsyncGenerator<Event, void, undefined>;

  /** The log as it is now, an event a line. */
  exportLog(session: string): Promise<string>;

  /** Imports the conversation that exportLog returned, as a session that works in a directory of the server. */
  importLog(lines: string, dir: string): Promise<Session>;
}

/** Returns a way to ask a server. It does not connect: the first request does. */
export function connect(config: Config): Pawl {
  const fetch = telling(config.url, config.fetch ?? globalThis.fetch);
  const headers: Record<string, string> = config.token ? { Authorization: `Bearer ${config.token}` } : {};
  // The token is for this server alone: it follows no redirect.
  const api = createClient<paths>({ baseUrl: config.url, fetch, headers, redirect: "error" });
  return {
    api,
    events: (session, options) => follow({ url: config.url, headers, fetch }, session, options),
    exportLog: (id) => ok(api.GET("/v1/sessions/{id}/log", { params: { path: { id } }, parseAs: "text" })),
    importLog: (lines, dir) =>
      ok(
        api.POST("/v1/sessions/import", {
          params: { query: { dir } },
          body: lines,
          bodySerializer: (text) => text,
          headers: { "Content-Type": "application/x-ndjson" },
        }),
      ),
  };
}

/** A fetch that says what to do when nobody answers. */
function telling(url: string, fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    try {
      return await fetch(input, init);
    } catch (error) {
      const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
      if (signal?.aborted) throw error;
      throw PawlError.unreachable(url, error);
    }
  };
}

/** Returns the data of an answer, or throws what the server said as a PawlError. */
export async function ok<T>(asked: Promise<{ data?: T; error?: Fault; response: Response }>): Promise<T> {
  const { data, error, response } = await asked;
  if (!response.ok) {
    throw PawlError.of(response.status, error);
  }
  return data as T; // a good answer without a body has none, and T says so
}
