import type { components } from "./schema.js";
import { Cut, follow, type Way } from "./stream.js";

type Event = components["schemas"]["Event"];

/** From where on to watch, and until when. */
export interface FollowOptions {
  /** Only events with a greater number; left out, all of them. */
  after?: number;
  /** Ends the watching, without an error. */
  signal?: AbortSignal;
}

/** Watches a session: see Pawl.events. */
export function followEvents(way: Way, session: string, options: FollowOptions = {}): AsyncGenerator<Event, void, undefined> {
  let last = options.after ?? 0;
  const source = {
    path: `/v1/sessions/${encodeURIComponent(session)}/events`,
    resume: () => (last > 0 ? String(last) : ""),
    accept({ data }: { data: unknown }) {
      const event = data as Event;
      const seq = "seq" in event ? event.seq : undefined;
      if (seq === undefined) return event;
      if (seq <= last) return undefined;
      if (seq !== last + 1) throw new Cut("an event is missing");
      last = seq;
      return event;
    },
  };
  return follow(way, source, options.signal);
}
