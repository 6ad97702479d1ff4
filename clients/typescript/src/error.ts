import type { components } from "./schema.js";

/** How the server tells an error. */
export type Fault = components["schemas"]["Fault"];

/** The class of an error, for programs. */
export type Code = Fault["error"]["code"];

/** What a server refused, and why. */
export class PawlError extends Error {
  override readonly name = "PawlError";

  constructor(
    message: string,
    /** The class: act on this. */
    readonly code: Code,
    /** The status of HTTP; 0 if it came within a stream, or nobody answered. */
    readonly status: number,
    /** Of a busy session: who works on it. */
    readonly holder?: string,
    /** By which it is found in the server's log. */
    readonly requestId?: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** The error of a request that nobody answered. */
  static unreachable(url: string, cause: unknown): PawlError {
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `ask the server at ${url}: ${why}: is 'pawl serve' running?`;
    return new PawlError(message, "unavailable", 0, undefined, undefined, { cause });
  }

  /** The error that an answer tells. One that tells none is of no pawl. */
  static of(status: number, fault: unknown): PawlError {
    const told = (fault as Fault | undefined)?.error;
    if (typeof told?.code !== "string") {
      return new PawlError(`the server answered ${status}, and is no pawl that this one understands`, "unavailable", status);
    }
    return new PawlError(told.message, told.code, status, told.holder, told.request_id);
  }
}
