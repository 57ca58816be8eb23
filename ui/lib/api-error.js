// Refusals and failures of the server. This module needs no page, so that workers can use it.

/** A refusal or failure of the server, in its own words. */
export class ApiError extends Error {
  /**
   * @param {{status: number, code?: string, message: string, line?: number, position?: number, token?: string, requestId?: string,
   *   retryAfter?: number, details?: {message: string, line?: number, position?: number, token?: string}[]}} parts
   */
  constructor({ status, code = '', message, line, position, token, requestId = '', retryAfter, details = [] }) {
    super(message);
    this.name = 'ApiError';
    /** The status; 0 where the server was not reached. */
    this.status = status;
    this.code = code;
    /** From 1; of the first error of a query. */
    this.line = line;
    /** In the line, from 0, in characters. */
    this.position = position;
    this.token = token;
    this.requestId = requestId;
    /** Seconds. */
    this.retryAfter = retryAfter;
    /** The further errors of a query. */
    this.details = details;
  }
}

/**
 * The error of a reply.
 * @param {number} status
 * @param {any} body The decoded body; `null` where it is no JSON.
 * @param {Headers} headers
 */
export function errorOf(status, body, headers) {
  const seconds = Number(headers.get('Retry-After') ?? NaN);
  const parts = {
    status,
    requestId: headers.get('x-ms-request-id') ?? '',
    retryAfter: Number.isFinite(seconds) ? seconds : undefined,
  };
  const error = body?.error;
  if (error === undefined || error === null || typeof error !== 'object') {
    return new ApiError({ ...parts, message: `The server answered with status ${status}.` });
  }
  // The innermost error says it most closely, and where.
  let inner = error;
  while (inner.innererror !== undefined && inner.innererror !== null) inner = inner.innererror;
  const place = (/** @type {any} */ from) => ({ line: from.line, position: from.pos, token: from.token });
  const details = (error.innererror?.details ?? []).map((/** @type {any} */ detail) => ({ message: detail.message, ...place(detail) }));
  return new ApiError({ ...parts, code: inner.code ?? error.code, message: inner.message ?? error.message, ...place(inner), details });
}
