import type { components } from "./schema.js";
import { follow, type Message, type Way } from "./stream.js";

type Session = components["schemas"]["Session"];
type OpenAsk = components["schemas"]["OpenAsk"];
type FeedChange = components["schemas"]["FeedChange"];

/** The newest sessions and all open asks after a change. */
export interface Feed {
  /** Most recently updated first. */
  sessions: Session[];
  /** Questions and permission prompts without an answer, those of subagents included. */
  asks: OpenAsk[];
  /** What the last message changed. */
  change: FeedChange;
}

/** Follows all sessions: see Pawl.follow. */
export function followFeed(way: Way, options: { signal?: AbortSignal } = {}): AsyncGenerator<Feed, void, undefined> {
  const sessions = new Map<string, Session>();
  const asks = new Map<string, OpenAsk>();
  const key = (session: string, seq: number) => `${session}/${seq}`;
  let last = "";
  const source = {
    path: "/v1/events",
    resume: () => last,
    accept({ id, data }: Message): Feed {
      const change = data as FeedChange;
      last = id || last;
      if (change.reset) {
        sessions.clear();
        asks.clear();
      }
      change.sessions?.forEach((session) => sessions.set(session.id, session));
      change.deleted?.forEach((session) => sessions.delete(session));
      change.asks?.forEach((ask) => asks.set(key(ask.session, ask.item.seq), ask));
      change.closed?.forEach((ask) => asks.delete(key(ask.session, ask.seq)));
      const newest = [...sessions.values()].sort((a, b) => Date.parse(b.updated) - Date.parse(a.updated));
      return { sessions: newest, asks: [...asks.values()], change };
    },
  };
  return follow(way, source, options.signal);
}
