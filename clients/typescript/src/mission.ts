import { ok, type Board, type Pawl } from "./index.js";
import { follow, type Message, type Way } from "./stream.js";

/** Follows a mission: see Pawl.followMission. */
export function followMission(way: Way, id: string, options: { signal?: AbortSignal } = {}): AsyncGenerator<Board, void, undefined> {
  const source = {
    path: `/v1/sessions/${encodeURIComponent(id)}/mission/stream`,
    resume: () => "", // each message is the whole board
    accept: ({ data }: Message) => data as Board,
  };
  return follow(way, source, options.signal);
}

/** Returns the board of a mission. */
export function getMission(pawl: Pawl, id: string): Promise<Board> {
  return ok(pawl.api.GET("/v1/sessions/{id}/mission", { params: { path: { id } } }));
}
