import type { components } from "./schema.js";

/** An error response of the server. */
export type Fault = components["schemas"]["Fault"];

/** The class of an error, for programs. */
export type Code = Fault["error"]["code"];

/** An error that the server returned, or a failed request. */
export class PawlError extends Error {
  override readonly name = "PawlError";

  constructor(
    message: string,
    /** The class of the error, for programs. */
    readonly code: Code,
    /** The HTTP status; 0 for an error within a stream, or if there was no response. */
    readonly status: number,
    /** For a busy session: the process that runs it. */
    readonly holder?: string,
    /** Identifies the request in the server's log. */
    readonly requestId?: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** Returns the error for a request without a response. */
  static unreachable(url: string, cause: unknown): PawlError {
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `cannot reach the server at ${url}: ${why}. Is 'pawl serve' running?`;
    return new PawlError(message, "unavailable", 0, undefined, undefined, { cause });
  }

  /** Returns the error of a response. */
  static of(status: number, fault: unknown): PawlError {
    const body = (fault as Fault | undefined)?.error;
    if (typeof body?.code !== "string") {
      return new PawlError(`unexpected response with status ${status}: the server is not Pawl, or has another version`, "unavailable", status);
    }
    return new PawlError(body.message, body.code, status, body.holder, body.request_id);
  }
}
