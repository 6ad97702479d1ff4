import { ok, type Board, type Pawl } from "./index.js";

/** Kinds of items after which a mission's board may be another one. */
const steps = new Set(["user", "mission", "subagent", "turn_end"]);

/** Follows a mission: see Pawl.followMission. */
export async function* followMission(pawl: Pawl, id: string, options: { signal?: AbortSignal } = {}): AsyncGenerator<Board, void, undefined> {
  let first = true;
  for await (const { changed } of pawl.followItems(id, { limit: 1, ...options })) {
    if (!first && !changed.some((item) => steps.has(item.kind))) continue;
    first = false;
    yield await getMission(pawl, id);
  }
}

/** Returns the board of a mission. */
export function getMission(pawl: Pawl, id: string): Promise<Board> {
  return ok(pawl.api.GET("/v1/sessions/{id}/mission", { params: { path: { id } } }));
}
