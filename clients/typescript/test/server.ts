/** A real `pawl serve`, with a store, a home and a workspace of its own. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { connect, type Pawl } from "../src/index.js";
import { unixFetch } from "../src/unix.js";

const program = process.env["PAWL"];
if (!program) throw new Error("PAWL must name the program to test: run 'make client-ts'");

export class Server {
  readonly root = mkdtempSync(join(tmpdir(), "pawl-ts-"));
  readonly workspace = join(this.root, "work");
  private readonly socket = join(this.root, "s");
  private process: ChildProcess | undefined;
  private log = "";
  url = "http://pawl";

  constructor(private readonly way: "socket" | "address") {
    for (const dir of ["home", "data", "work"]) mkdirSync(join(this.root, dir));
  }

  /** Starts the program and returns once it says where it serves. */
  async start(): Promise<void> {
    const listen = this.way === "socket" ? `unix:${this.socket}` : "127.0.0.1:0";
    const child = spawn(program!, ["serve", "--listen", listen, "--dir", this.workspace, "--log", "none"], {
      cwd: this.workspace,
      env: { PATH: process.env["PATH"], HOME: join(this.root, "home"), PAWL_DATA: join(this.root, "data") },
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.process = child;
    for await (const line of createInterface(child.stderr)) {
      this.log += `${line}\n`;
      const found = /^pawl: listening on (\S+)$/.exec(line);
      if (!found) continue;
      if (this.way === "address") this.url = found[1]!;
      child.stderr.resume(); // nobody reads the rest
      return;
    }
    throw new Error(`pawl serve did not start: ${this.log}`);
  }

  /** Ends the program as a crash would, or in order. */
  async stop(signal: "SIGKILL" | "SIGTERM"): Promise<number | null> {
    const child = this.process;
    this.process = undefined;
    if (!child) return null;
    const ended = once(child, "exit");
    child.kill(signal);
    const [code] = (await ended) as [number | null];
    return code;
  }

  /** A client; without a token it is one that the address refuses. */
  client(token = this.token()): Pawl {
    if (this.way === "socket") return connect({ url: this.url, fetch: unixFetch(this.socket) });
    return connect({ url: this.url, token });
  }

  /** A client whose streams break off when the function is called. */
  fragileClient(): [Pawl, () => void] {
    let line = new AbortController();
    const there = unixFetch(this.socket);
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const answer = await there(input, init);
      if (answer.headers.get("Content-Type") !== "text/event-stream") return answer;
      return new Response(answer.body!.pipeThrough(new TransformStream(), { signal: line.signal }), answer);
    };
    const cut = () => {
      line.abort(new Error("the connection was cut"));
      line = new AbortController();
    };
    return [connect({ url: this.url, fetch }), cut];
  }

  private token(): string {
    return this.way === "socket" ? "" : readFileSync(join(this.root, "data", "server-token"), "utf8").trim();
  }

  /** Writes a script and returns the name of the model that follows it. */
  script(name: string, ...replies: object[]): string {
    const path = join(this.root, `${name}.jsonl`);
    writeFileSync(path, replies.map((reply) => JSON.stringify(reply)).join("\n"));
    return `script:${path}`;
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
