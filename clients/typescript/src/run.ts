import { PawlError } from "./error.js";
import { ok, type Answer, type Item, type OpenAsk, type Part, type Pawl, type Prompt } from "./index.js";
import type { components } from "./schema.js";

/**
 * Where a prompt runs, how, and who hears about it. Everything else is sent with
 * the prompt: `model`, `mode`, `agent`, `max_cost`, `delivery` and so on.
 */
export interface RunOptions extends Omit<Prompt, "parts"> {
  /** The session to continue. Left out, a new one is created in `dir`. */
  session?: string;
  /** The working directory of a new session. */
  dir?: string;
  /** Called with each new and changed item of the turn, in order. */
  onItem?: (item: Item) => void;
  /**
   * Called for each question and permission prompt of the session and its subagents, one at a time. Returns the
   * name of one of `ask.item.ask.choices` (such as "allow" or "deny"), an answer, or undefined to leave it to
   * somebody else. Without this function the agent works as if no user is present, unless `absent` is false.
   */
  onAsk?: (ask: OpenAsk) => Reply | Promise<Reply>;
  /** Ends the waiting with an error. The turn goes on: cancel it with `POST /v1/sessions/{id}/cancel`. */
  signal?: AbortSignal;
}

/** An answer to an ask: the name of a choice, an answer, or undefined for none. */
export type Reply = string | Answer | undefined;

/** How a turn ended. */
export interface Turn {
  session: string;
  /** Why it ended: `end_turn` if the agent has finished. */
  reason: components["schemas"]["ItemEnd"]["reason"];
  /** The last message of the agent; "" if there is none. */
  text: string;
  /** A line about the end, for people. */
  message: string;
  usage: components["schemas"]["Usage"];
}

/** Sends a prompt and waits for the end of its turn: see Pawl.run. */
export async function run(pawl: Pawl, prompt: string | Part[], options: RunOptions): Promise<Turn> {
  const { session, dir, onItem, onAsk, signal, ...settings } = options;
  const id = session ?? (await ok(pawl.api.POST("/v1/sessions", { body: dir === undefined ? {} : { dir }, ...(signal && { signal }) }))).id;
  const parts: Part[] = typeof prompt === "string" ? [{ type: "text", text: prompt }] : prompt;
  const body = { absent: !onAsk, ...settings, parts };
  const { seq } = await ok(pawl.api.POST("/v1/sessions/{id}/prompts", { params: { path: { id } }, body, ...(signal && { signal }) }));
  const done = new AbortController();
  const ended = signal ? AbortSignal.any([signal, done.signal]) : done.signal;
  try {
    const turn = waitForEnd(pawl, id, seq, onItem, ended);
    return await (onAsk ? Promise.race([turn, answerAsks(pawl, id, onAsk, ended)]) : turn);
  } finally {
    done.abort();
  }
}

/** Reports the items of a prompt's turn until it ends. */
async function waitForEnd(pawl: Pawl, session: string, seq: number, onItem: RunOptions["onItem"], signal: AbortSignal): Promise<Turn> {
  let prompt: Item | undefined;
  for await (const { items, more, changed } of pawl.followItems(session, { after: seq - 1, limit: 500, signal })) {
    const found = items.find((item) => item.id === `prompt_${seq}`);
    if (prompt && !found && !more) throw new PawlError("the prompt was withdrawn or undone", "conflict", 0);
    prompt = found ?? prompt;
    if (prompt?.state !== "done") continue;
    const { turn, seq: start } = prompt;
    const ofTurn = (item: Item) => item.turn === turn && item.seq >= start;
    if (onItem) changed.filter(ofTurn).forEach((item) => onItem(item));
    const end = items.find((item) => item.kind === "turn_end" && ofTurn(item));
    if (end?.end) {
      const text = await lastText(pawl, session, items.filter(ofTurn));
      return { session, reason: end.end.reason, text, message: end.text ?? "", usage: end.end.usage ?? {} };
    }
  }
  throw signal.reason;
}

/** Returns the whole text of the last message. */
async function lastText(pawl: Pawl, id: string, items: Item[]): Promise<string> {
  const texts = items.filter((item) => item.kind === "text");
  const last = texts.filter((item) => item.seq === texts.at(-1)?.seq);
  const whole = last.map(async (item) => {
    if (!item.cut) return item.text ?? "";
    const full = await ok(pawl.api.GET("/v1/sessions/{id}/items/{item}", { params: { path: { id, item: item.id } } }));
    return full.text ?? "";
  });
  return (await Promise.all(whole)).join("");
}

/** Has the asks of a session and its subagents answered, until the signal. It never returns. */
async function answerAsks(pawl: Pawl, session: string, onAsk: NonNullable<RunOptions["onAsk"]>, signal: AbortSignal): Promise<never> {
  const seen = new Set<string>();
  for await (const { change } of pawl.follow({ signal })) {
    if (!change.reset && !change.asks) continue;
    for (const ask of await pawl.asks({ session })) {
      const key = `${ask.session}/${ask.item.seq}`;
      if (signal.aborted || seen.has(key)) continue;
      seen.add(key);
      const reply = await onAsk(ask);
      if (reply !== undefined) await answer(pawl, ask, reply);
    }
  }
  throw signal.reason;
}

/** Answers an ask, unless somebody else has. */
async function answer(pawl: Pawl, ask: OpenAsk, reply: string | Answer): Promise<void> {
  const choices = ask.item.ask?.choices ?? [];
  const body = typeof reply === "string" ? choices.find((choice) => choice.name === reply)?.answer : reply;
  if (!body) {
    const names = choices.map((choice) => choice.name).join(", ");
    throw new PawlError(`the ask has no choice "${String(reply)}": it has ${names}`, "invalid", 0);
  }
  const params = { path: { id: ask.session, seq: ask.item.ask?.seq ?? ask.item.seq } };
  try {
    await ok(pawl.api.POST("/v1/sessions/{id}/asks/{seq}/answer", { params, body }));
  } catch (error) {
    if (!(error instanceof PawlError && error.code === "conflict")) throw error;
  }
}
