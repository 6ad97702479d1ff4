/** All that a client does, against a real server: on a socket and on an address. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { ok, PawlError, type Code, type Event, type Pawl, type Session } from "../src/index.js";
import { Server } from "./server.js";

const patience = 60_000; // milliseconds; what should come does not

type Kind = Event["type"];
type Of<K extends Kind> = Extract<Event, { type: K }>;

/** Reads a session's events up to the first of a type. */
async function until<K extends Kind>(pawl: Pawl, id: string, kind: K, start = 0): Promise<Of<K>> {
  for await (const event of pawl.events(id, { after: start, signal: AbortSignal.timeout(patience) })) {
    if (event.type === kind) return event as Of<K>;
  }
  throw new Error(`no ${kind} came`);
}

/** Fails unless the server refuses, with this class and status. */
async function refused(code: Code, status: number, asked: Promise<unknown>): Promise<PawlError> {
  const error = await asked.then(
    () => assert.fail(`it was not refused with ${code}`),
    (reason: unknown) => reason,
  );
  assert(error instanceof PawlError, String(error));
  assert.deepEqual([error.code, error.status], [code, status], error.message);
  return error;
}

function text(words: string) {
  return [{ type: "text" as const, text: words }];
}

for (const way of ["socket", "address"] as const) {
  describe(`by ${way}`, () => {
    const server = new Server(way);
    let pawl: Pawl;
    const create = (title?: string): Promise<Session> =>
      ok(pawl.api.POST("/v1/sessions", { body: { dir: server.workspace, ...(title && { title }) } }));
    const send = async (id: string, words: string, model: string, more: object = {}) =>
      ok(pawl.api.POST("/v1/sessions/{id}/prompts", { params: { path: { id } }, body: { parts: text(words), model, ...more } }));
    const get = (id: string) => ok(pawl.api.GET("/v1/sessions/{id}", { params: { path: { id } } }));

    before(async () => {
      await server.start();
      pawl = server.client();
    });
    after(async () => {
      assert.equal(await server.stop("SIGTERM"), 0);
      server.remove();
    });

    test("create, prompt, stream until the end, rename, find, delete", async () => {
      const model = server.script("hello", { text: "Hello there.", deltas: 3, usage: { input: 10, output: 4, cost: 70 } });
      const { id } = await create();
      const { seq } = await send(id, "Hi.", model);
      let said = "";
      const numbers: number[] = [];
      for await (const event of pawl.events(id, { signal: AbortSignal.timeout(patience) })) {
        if ("seq" in event) numbers.push(event.seq);
        if (event.type === "prompted") assert.equal(event.seq, seq);
        if (event.type === "replied") said = event.body.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
        if (event.type === "turn.finished") {
          assert.equal(event.body.reason, "end_turn");
          break;
        }
      }
      assert.equal(said, "Hello there.");
      assert.deepEqual(numbers, numbers.map((_, i) => i + 1));

      await ok(pawl.api.PATCH("/v1/sessions/{id}", { params: { path: { id } }, body: { title: "A greeting" } }));
      const found = await ok(pawl.api.GET("/v1/sessions", { params: { query: { query: "greet", limit: 10 } } }));
      assert.deepEqual(found.sessions.map((s) => [s.id, s.title, s.turns]), [[id, "A greeting", 1]]);
      const used = await ok(pawl.api.GET("/v1/usage", { params: { query: { session: id } } }));
      assert.deepEqual(used.rows.map((r) => [r.replies, r.input, r.output, r.cost]), [[1, 10, 4, 70]]);
      await refused("not_found", 404, ok(pawl.api.GET("/v1/sessions/{id}/draft", { params: { path: { id } } })));

      await ok(pawl.api.DELETE("/v1/sessions/{id}", { params: { path: { id } } }));
      await refused("not_found", 404, get(id));
    });

    test("a permission is asked for and answered", async () => {
      const command = { name: "bash", input: { command: "echo done >out.txt" } };
      const model = server.script("asks", { calls: [command] }, { text: "It is written." });
      const { id } = await create();
      await send(id, "Write it.", model, { mode: "ask" });
      const asked = await until(pawl, id, "asked");
      assert.equal(asked.body.kind, "permission");
      const params = { path: { id, seq: asked.seq } };
      await refused("invalid", 400, ok(pawl.api.POST("/v1/sessions/{id}/asks/{seq}/answer", { params, body: { outcome: "timeout" } })));
      await ok(pawl.api.POST("/v1/sessions/{id}/asks/{seq}/answer", { params, body: { outcome: "answered" } }));
      const done = await until(pawl, id, "call.finished");
      assert.deepEqual([done.body.status, done.body.result.is_error ?? false], ["done", false], done.body.result.content);
      assert.equal((await until(pawl, id, "turn.finished")).body.reason, "end_turn");
      assert.equal(readFileSync(join(server.workspace, "out.txt"), "utf8"), "done\n");
      await refused("conflict", 409, ok(pawl.api.POST("/v1/sessions/{id}/asks/{seq}/answer", { params, body: { outcome: "denied" } })));
    });

    test("what waits is reworded and withdrawn, and the turn canceled", async () => {
      const model = server.script("hangs", { text: "I never end.", fault: "hang" });
      const { id } = await create();
      await send(id, "Begin.", model);
      await until(pawl, id, "reply.started");
      await refused("busy", 423, send(id, "Now!", model));
      const first = await send(id, "one", model, { delivery: "queue" });
      const second = await send(id, "two", model, { delivery: "queue" });
      await ok(pawl.api.PUT("/v1/sessions/{id}/prompts/{seq}", { params: { path: { id, seq: first.seq } }, body: { parts: text("first") } }));
      await ok(pawl.api.DELETE("/v1/sessions/{id}/prompts/{seq}", { params: { path: { id, seq: second.seq } } }));
      const { prompts } = await ok(pawl.api.GET("/v1/sessions/{id}/prompts", { params: { path: { id } } }));
      assert.deepEqual(prompts.map((p) => [p.seq, p.prompt.parts]), [[first.seq, text("first")]]);
      await refused("conflict", 409, ok(pawl.api.DELETE("/v1/sessions/{id}/prompts/{seq}", { params: { path: { id, seq: second.seq } } })));
      await ok(pawl.api.POST("/v1/sessions/{id}/cancel", { params: { path: { id } } }));
      assert.equal((await until(pawl, id, "turn.finished")).body.reason, "canceled");
    });

    test("fork, compact, preview, undo, export and import", async () => {
      const write = { name: "write", input: { path: "note.txt", content: "new\n" } };
      const model = server.script("writes", { calls: [write] }, { text: "Written." }, { agent: "compaction", text: "A note was written." });
      const { id } = await create("Notes");
      await send(id, "Write a note.", model, { mode: "yolo" });
      const end = await until(pawl, id, "turn.finished");
      assert.equal(end.body.reason, "end_turn", end.body.message);

      const path = { id };
      const plan = await ok(pawl.api.POST("/v1/sessions/{id}/undo/preview", { params: { path }, body: {} }));
      assert.deepEqual(plan.files?.map((f) => [f.path, f.kind]), [["note.txt", "delete"]]);
      const copy = await ok(pawl.api.POST("/v1/sessions/{id}/fork", { params: { path }, body: {} }));
      assert.notEqual(copy.id, id);
      const order = await ok(pawl.api.POST("/v1/sessions/{id}/compact", { params: { path: { id: copy.id } }, body: { instructions: "Keep names." } }));
      assert.equal((await until(pawl, copy.id, "compacted")).body.asked, order.seq);

      const body = { to: plan.to ?? 0 };
      const back = await ok(pawl.api.POST("/v1/sessions/{id}/undo", { params: { path }, body }));
      const undone = await until(pawl, id, "undone");
      assert.deepEqual([undone.body.asked, undone.body.refused, undone.body.changed], [back.seq, undefined, ["note.txt"]]);
      assert(!existsSync(join(server.workspace, "note.txt")));

      const lines = await pawl.exportLog(id);
      const events = lines.trimEnd().split("\n").map((line) => JSON.parse(line) as Event);
      assert.equal(events.length, (await get(id)).head);
      await refused("conflict", 409, pawl.importLog(lines, server.workspace));
      await ok(pawl.api.DELETE("/v1/sessions/{id}", { params: { path } }));
      assert.equal((await pawl.importLog(lines, server.workspace)).id, id);
      const texts = (log: string) => log.trimEnd().split("\n").map((line) => JSON.parse(line) as Event).filter((e) => e.type === "replied").map((e) => e.body.parts);
      assert.deepEqual(texts(await pawl.exportLog(id)), texts(lines));
      await ok(pawl.api.POST("/v1/sessions/{id}/resume", { params: { path } }));
    });

    test("errors are typed", async () => {
      const none = "01JD0000000000000000000000";
      const { response, error } = await pawl.api.GET("/v1/sessions/{id}", { params: { path: { id: none } } });
      assert.equal(response.status, 404);
      assert.equal(error?.error.code, "not_found");
      const told = await refused("not_found", 404, get(none));
      assert.equal(told.requestId?.length, 26);
      await refused("not_found", 404, pawl.events(none).next());
      // only a fleet makes folders
      await refused("invalid", 400, ok(pawl.api.POST("/v1/sessions", { body: {} })));
      await refused("invalid", 400, ok(pawl.api.POST("/v1/sessions", { body: { dir: server.workspace, folder: "/" } })));
      // @ts-expect-error the limit is a number
      await refused("invalid", 400, ok(pawl.api.GET("/v1/sessions", { params: { query: { limit: "many" } } })));
      await refused("denied", 403, ok(pawl.api.POST("/v1/sessions", { body: { dir: "/" } })));
      if (way === "address") {
        await refused("unauthorized", 401, ok(server.client("not-the-token-of-it").api.GET("/v1/sessions")));
      }
    });

    test("the document is the one that the client is made from", async () => {
      const served = await ok(pawl.api.GET("/v1/openapi.json"));
      const made = JSON.parse(readFileSync(join(import.meta.dirname, "../../../../docs/schema/openapi.json"), "utf8")) as unknown;
      assert.deepEqual(served, made);
    });
  });
}

test("a stream goes on when the server was killed and comes back", async () => {
  const server = new Server("socket");
  try {
    await server.start();
    const pawl = server.client();
    const model = server.script("waits", { calls: [{ name: "bash", input: { command: "until [ -e go ]; do sleep 0.01; done" } }] }, { text: "Done." });
    const { id } = await ok(pawl.api.POST("/v1/sessions", { body: { dir: server.workspace } }));
    await ok(pawl.api.POST("/v1/sessions/{id}/prompts", { params: { path: { id } }, body: { parts: text("Wait."), model, mode: "yolo" } }));
    const numbers: number[] = [];
    for await (const event of pawl.events(id, { signal: AbortSignal.timeout(patience) })) {
      if ("seq" in event) numbers.push(event.seq);
      if (event.type === "call.started" && !existsSync(join(server.workspace, "go"))) {
        await server.stop("SIGKILL");
        await refused("unavailable", 0, ok(pawl.api.GET("/v1/sessions")));
        writeFileSync(join(server.workspace, "go"), "");
        await server.start();
      }
      if (event.type === "turn.finished") break;
    }
    assert.deepEqual(numbers, numbers.map((_, i) => i + 1));
    assert.equal(await server.stop("SIGTERM"), 0);
  } finally {
    await server.stop("SIGKILL");
    server.remove();
  }
});
