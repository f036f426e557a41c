/**
 * Headers that callers may set in a request with secrets. Others are refused, because they would change the connection, the host,
 * the method or the path (x-http-method-override, x-amz-copy-source), or authorize the caller by something else than a rule.
 */
export const useHeaders: ReadonlySet<string> = new Set([
  "accept",
  "accept-language",
  "anthropic-beta",
  "anthropic-version",
  "content-encoding",
  "content-language",
  "content-md5",
  "content-type",
  "git-protocol",
  "idempotency-key",
  "if-match",
  "if-modified-since",
  "if-none-match",
  "if-unmodified-since",
  "notion-version",
  "openai-beta",
  "prefer",
  "stripe-version",
  "user-agent",
  "x-github-api-version",
  "x-idempotency-key",
  "x-request-id"
])
