/** One call for an app. */
export interface OutboundRequest {
  url: string;
  method: string;
  /** By name, in any case. A value may contain `{{secret:<name>}}`. */
  headers: Record<string, string>;
  /** May contain `{{secret:<name>}}`; null for none. */
  body: string | null;
  /** Milliseconds for all of it, redirects included; at most `fetch.timeout`, which null means. */
  timeout: number | null;
  /** Its abortion ends the call, which then rejects with its reason. */
  signal?: AbortSignal;
  /** Sent unchanged, and answered as the host answers: no secret is put in, and no redirect is followed. */
  isExact?: boolean;
}

export interface OutboundAnswer {
  status: number;
  /** By name in lower case; several of one name are joined by commas, those of `set-cookie` by line breaks. */
  headers: Record<string, string>;
  text: string;
}

/** Calls out of this server, to hosts that the configuration names (docs/reference/calls-out.md). */
export interface Outbound {
  /**
   * One call for an app, with redirects. Throws AppsErrors: BadRequestError for wrong arguments, ForbiddenError for a refusal,
   * which names the key of the configuration and no address that was found, BadGatewayError when the host does not answer well,
   * GatewayTimeoutError when the time is over, PayloadTooLargeError. None contains a secret.
   */
  call(appId: string, request: OutboundRequest): Promise<OutboundAnswer>;
  /** The refusals of `call` that are known without a connection: BadRequestError, ForbiddenError, PayloadTooLargeError. */
  check(appId: string, request: OutboundRequest): void;
  /**
   * Value of a secret of the configuration; null when there is none of this name. ForbiddenError, which names the key, for one
   * without a value.
   */
  secret(name: string): string | null;
  /** Ends calls that still run. */
  destroy(): Promise<void>;
}
