/**
 * Sessions of pawl from TypeScript. What `pawl serve` offers is described by its
 * OpenAPI document, from which the types here are made; see connect.
 */
import createClient, { type Client } from "openapi-fetch";

import { PawlError, type Fault } from "./error.js";
import { followEvents, type FollowOptions } from "./events.js";
import { followFeed, type Feed } from "./feed.js";
import { followItems, type ItemList, type ItemOptions } from "./items.js";
import { followMission, getMission } from "./mission.js";
import { run, type RunOptions, type Turn } from "./run.js";
import type { components, paths } from "./schema.js";

export { PawlError, type Code, type Fault } from "./error.js";
export type { FollowOptions } from "./events.js";
export type { Feed } from "./feed.js";
export type { ItemList, ItemOptions } from "./items.js";
export type { Reply, RunOptions, Turn } from "./run.js";
export type { components, operations, paths } from "./schema.js";

type Schemas = components["schemas"];

/** What happened in a session. Its `type` says which body it has. */
export type Event = Schemas["Event"];
export type Session = Schemas["Session"];
export type Prompt = Schemas["Prompt"];
export type Part = Schemas["Part"];
export type Answer = Schemas["Answer"];
/** An entry of a transcript: a message, a tool call, an ask, a note. Later ones replace it by its `id`. */
export type Item = Schemas["Item"];
/** A question or permission prompt without an answer. */
export type OpenAsk = Schemas["OpenAsk"];
export type Info = Schemas["Info"];
export type NewMission = Schemas["NewMission"];
/** The state of a mission. */
export type Board = Schemas["Board"];

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
   * Sends a prompt, reports what happens, and returns how the turn ended. Creates a session unless the options
   * name one. A turn that fails is no error: check `reason`.
   */
  run(prompt: string | Part[], options: RunOptions): Promise<Turn>;

  /** A page of the transcript, oldest item first: the newest items, or those before an item. */
  items(session: string, page?: { before?: string; limit?: number }): Promise<Schemas["Items"]>;

  /**
   * The newest items of a session, and again after each change, until the signal or the loop ends. When the
   * connection breaks it is resumed: no item is missing and none comes twice.
   */
  followItems(session: string, options?: ItemOptions): AsyncGenerator<ItemList, void, undefined>;

  /** The newest sessions and all open asks, and again after each change. It is resumed as followItems is. */
  follow(options?: { signal?: AbortSignal }): AsyncGenerator<Feed, void, undefined>;

  /** The questions and permission prompts without an answer: of all sessions, or of one and its subagents. */
  asks(filter?: { session?: string }): Promise<OpenAsk[]>;

  /** The version of the server, and the user and scope of the token. */
  info(): Promise<Info>;

  /** Starts a mission and returns the session of its Commander. */
  startMission(mission: NewMission): Promise<Session>;

  /** The state of a mission. */
  mission(session: string): Promise<Board>;

  /** The state of a mission, and again after each change, until the signal or the loop ends. */
  followMission(session: string, options?: { signal?: AbortSignal }): AsyncGenerator<Board, void, undefined>;

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
  const way = { url: config.url, headers, fetch };
  const pawl: Pawl = {
    api,
    run: (prompt, options) => run(pawl, prompt, options),
    items: (id, query = {}) => ok(api.GET("/v1/sessions/{id}/items", { params: { path: { id }, query } })),
    followItems: (session, options) => followItems(way, session, options),
    follow: (options) => followFeed(way, options),
    asks: async (query = {}) => (await ok(api.GET("/v1/asks", { params: { query } }))).asks,
    info: () => ok(api.GET("/v1/info")),
    startMission: (body) => ok(api.POST("/v1/missions", { body })),
    mission: (id) => getMission(pawl, id),
    followMission: (id, options) => followMission(way, id, options),
    events: (session, options) => followEvents(way, session, options),
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
  return pawl;
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
