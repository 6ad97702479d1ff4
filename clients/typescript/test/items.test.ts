/** Items, asks, runs and missions, against a real server. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { ok, PawlError, type Board, type Feed, type Item, type ItemList, type OpenAsk, type Pawl } from "../src/index.js";
import { Server } from "./server.js";

const patience = 60_000; // milliseconds

const task = { name: "task", input: { description: "a part", prompt: "Do it.", agent: "general" } };

/** Returns the first value of a stream that is as wanted. */
async function first<T>(stream: AsyncIterable<T>, wanted: (value: T) => boolean): Promise<T> {
  for await (const value of stream) {
    if (wanted(value)) return value;
  }
  throw new Error("the stream ended before");
}

const ended = ({ items }: ItemList) => items.some((item) => item.kind === "turn_end");
const ids = (items: Item[]) => items.map((item) => item.id);

describe("items", () => {
  const server = new Server("socket");
  let pawl: Pawl;
  before(async () => {
    await server.start();
    pawl = server.client();
  });
  after(async () => {
    assert.equal(await server.stop("SIGTERM"), 0);
    server.remove();
  });

  test("run reports items and returns how the turn ended", async () => {
    const long = Array.from({ length: 3000 }, (_, i) => `line ${i} of ${i * i}`).join("\n"); // more than an item of a stream has
    const usage = { input: 10, output: 4, cost: 70 };
    const model = server.script("run", { calls: [{ name: "bash", input: { command: "echo hello" } }] }, { text: long, deltas: 3, usage }, { text: "Still well." });
    const seen = new Map<string, Item>();
    const turn = await pawl.run("Check it.", { dir: server.workspace, model, mode: "yolo", onItem: (item) => seen.set(item.id, item) });
    assert.deepEqual({ ...turn, session: "" }, { session: "", reason: "end_turn", text: long, message: turn.message, usage });
    assert.deepEqual([...seen.values()].map((item) => item.kind), ["user", "call", "text", "turn_end"]);
    assert.equal([...seen.values()][1]?.call?.status, "done");

    const again = await pawl.run([{ type: "text", text: "Again." }], { session: turn.session });
    assert.deepEqual([again.session, again.text], [turn.session, "Still well."]);

    const all = await pawl.items(turn.session);
    assert.deepEqual([all.items.length, all.more], [7, false]);
    const page = await pawl.items(turn.session, { before: all.items[4]!.id, limit: 2 });
    assert.deepEqual([ids(page.items), page.more], [ids(all.items.slice(2, 4)), true]);
    const newest = await first(pawl.followItems(turn.session, { limit: 3 }), () => true);
    assert.deepEqual([newest.items, newest.more], [all.items.slice(4), true]);
  });

  test("onAsk answers the permission prompt of a subagent", async () => {
    const touch = { name: "bash", input: { command: "touch made.txt" } };
    const model = server.script("subagent", { calls: [task] }, { text: "Done." }, { agent: "general", calls: [touch] }, { agent: "general", text: "Ok." });
    const asked: OpenAsk[] = [];
    const turn = await pawl.run("Have it made.", {
      dir: server.workspace, model, mode: "ask", signal: AbortSignal.timeout(patience),
      onAsk: async (ask) => {
        asked.push(ask);
        assert.deepEqual(await pawl.asks({ session: ask.root }), [ask]);
        return "allow";
      },
    });
    assert.deepEqual([turn.reason, turn.text], ["end_turn", "Done."]);
    assert.deepEqual(asked.map((ask) => [ask.root, ask.item.ask?.command]), [[turn.session, "touch made.txt"]]);
    assert.notEqual(asked[0]?.session, turn.session);
    assert(existsSync(join(server.workspace, "made.txt")));
    assert.deepEqual(await pawl.asks(), []);
  });

  test("run fails with the callback, an unknown choice or the signal", async () => {
    const script = () => server.script("denied", { calls: [{ name: "bash", input: { command: "touch never.txt" } }] }, { text: "Done." });
    const options = { dir: server.workspace, model: script(), mode: "ask" };
    const thrown = new Error("from the callback");
    await assert.rejects(pawl.run("Make it.", { ...options, onAsk: () => Promise.reject(thrown) }), thrown);
    await assert.rejects(pawl.run("Make it.", { ...options, onAsk: () => "perhaps" }), (error: PawlError) => error.code === "invalid");
    const stop = new AbortController();
    const stopped = pawl.run("Make it.", { ...options, signal: stop.signal, onAsk: () => stop.abort(thrown) as undefined });
    await assert.rejects(stopped, thrown);
    const denied = await pawl.run("Make it.", { ...options, onAsk: () => ({ outcome: "denied" as const }) });
    assert.equal(denied.reason, "permission_denied");
    const alone = await pawl.run("Make it.", options); // nobody answers: the prompt is not shown
    assert.notEqual(alone.reason, undefined);
    assert(!existsSync(join(server.workspace, "never.txt")));
    for (const ask of await pawl.asks()) await ok(pawl.api.POST("/v1/sessions/{id}/cancel", { params: { path: { id: ask.root } } }));
  });

  test("a connection that is cut again and again loses and doubles nothing", async () => {
    const words = Array.from({ length: 60 }, (_, i) => `word${i}`).join(" ");
    const model = server.script("cut", { text: words, deltas: 60, delay_ms: 10, calls: [{ name: "bash", input: { command: "echo hello" } }] }, { text: words, deltas: 60, delay_ms: 10 });
    const [fragile, cut] = server.fragileClient();
    const { id } = await ok(pawl.api.POST("/v1/sessions", { body: { dir: server.workspace } }));
    await ok(pawl.api.POST("/v1/sessions/{id}/prompts", { params: { path: { id } }, body: { parts: [{ type: "text", text: "Go." }], model, mode: "yolo" } }));
    let messages = 0;
    let inText = 0;
    const last = await first(fragile.followItems(id, { signal: AbortSignal.timeout(patience) }), (list) => {
      assert.equal(new Set(ids(list.items)).size, list.items.length);
      const streaming = list.items.find((item) => item.kind === "text" && item.state === "streaming");
      assert(words.startsWith(streaming?.text ?? ""), streaming?.text);
      if (++messages % 4 === 0) {
        if (streaming) inText++;
        cut();
      }
      return ended(list);
    });
    assert(inText > 0, "no connection was cut in the middle of a text");
    assert.deepEqual(last.items, (await pawl.items(id)).items);
  });

  test("the feed has sessions and asks, and resumes", async () => {
    const [fragile, cut] = server.fragileClient();
    const feed = fragile.follow({ signal: AbortSignal.timeout(patience) })[Symbol.asyncIterator]();
    const read = async (wanted: (feed: Feed) => boolean): Promise<Feed> => {
      for (;;) {
        const { value } = await feed.next();
        assert(value, "the feed ended");
        if (wanted(value)) return value;
      }
    };
    await read(() => true);
    const model = server.script("feed", { calls: [{ name: "bash", input: { command: "touch asked.txt" } }] }, { text: "Done." });
    const { id } = await ok(pawl.api.POST("/v1/sessions", { body: { dir: server.workspace } }));
    await ok(pawl.api.POST("/v1/sessions/{id}/prompts", { params: { path: { id } }, body: { parts: [{ type: "text", text: "Go." }], model, mode: "ask" } }));
    const { asks } = await read((feed) => feed.asks.length === 1 && feed.asks[0]?.root === id);
    cut();
    await ok(pawl.api.POST("/v1/sessions/{id}/asks/{seq}/answer", { params: { path: { id, seq: asks[0]!.item.seq } }, body: asks[0]!.item.ask!.choices![0]!.answer }));
    const end = await read(({ sessions, asks, change }) => {
      assert(!change.reset, "it began again");
      return asks.length === 0 && sessions.some((row) => row.id === id && row.ended === "end_turn");
    });
    assert.equal(end.sessions[0]?.id, id);
    await feed.return();
  });

  test("a mission is started and followed to its end", async () => {
    const model = server.script("mission", { text: "Done." });
    const { id } = await pawl.startMission({ dir: server.workspace, order: { goal: "Be done." }, settings: { model } });
    const board: Board = await first(pawl.followMission(id, { signal: AbortSignal.timeout(patience) }), (board) => board.state !== "working");
    assert.deepEqual(await pawl.mission(id), board);
    assert.deepEqual([board.mission.order.goal, board.state], ["Be done.", "stopped"]);
    assert.match(board.ended?.message ?? "", /needs a git repository/); // the workspace is none
  });

  test("a signal ends a stream", async () => {
    const stop = new AbortController();
    for await (const _ of pawl.follow({ signal: stop.signal })) setTimeout(() => stop.abort(), 0);
  });

  test("info names the scope", async () => {
    assert.equal((await pawl.info()).scope, "admin");
  });
});

test("text that a crash has lost does not stay in the list", async () => {
  const server = new Server("socket");
  try {
    await server.start();
    const pawl = server.client();
    const model = server.script("slow", { text: "I take my time. ".repeat(20), deltas: 300, delay_ms: 20 });
    const { id } = await ok(pawl.api.POST("/v1/sessions", { body: { dir: server.workspace } }));
    const params = { path: { id } };
    await ok(pawl.api.POST("/v1/sessions/{id}/prompts", { params, body: { parts: [{ type: "text", text: "Begin." }], model } }));
    let killed = false;
    const last = await first(pawl.followItems(id, { signal: AbortSignal.timeout(patience) }), (list) => killed && ended(list) || act(list));
    function act(list: ItemList): boolean {
      if (killed || !list.items.some((item) => item.unsaved)) return false;
      killed = true;
      void server.stop("SIGKILL").then(() => server.start()).then(() => ok(pawl.api.POST("/v1/sessions/{id}/cancel", { params })));
      return false;
    }
    assert.deepEqual(last.items, (await pawl.items(id)).items);
  } finally {
    await server.stop("SIGKILL");
    server.remove();
  }
});
