/** Errors of replies that the data worker read. */
import { ApiError } from '../lib/api.js';

/** @param {{status: number, requestId: string | null, retryAfter: string | null, failure: any}} reply */
export function errorOf({ status, requestId, retryAfter, failure }) {
  const error = failure?.error ?? {};
  // The innermost error says it most closely, and where.
  let inner = error;
  while (inner.innererror) inner = inner.innererror;
  const seconds = Number(retryAfter ?? NaN);
  return new ApiError({
    status, code: inner.code ?? error.code, message: inner.message ?? error.message ?? `The server answered with status ${status}.`,
    line: inner.line, position: inner.pos, token: inner.token, requestId: requestId ?? '', retryAfter: Number.isFinite(seconds) ? seconds : undefined,
  });
}
