import * as Either from "effect/Either"

/**
 * Headers that callers may set. Others are refused, because they would change the connection, the host, the method or the path
 * (x-http-method-override, x-amz-copy-source), or authorize the caller by something else than a rule.
 */
const allowed: ReadonlySet<string> = new Set([
  "accept",
  "accept-language",
  "anthropic-beta",
  "anthropic-version",
  "content-language",
  "content-md5",
  "content-type",
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

/** The headers of the request that leaves, in lowercase. Or says which one is refused. */
export const outgoingHeaders = (
  headers: Readonly<Record<string, string>>
): Either.Either<Readonly<Record<string, string>>, string> => {
  const names = Object.keys(headers)
  const lowered = names.map((name) => name.toLowerCase())
  const refused = lowered.find((name, index) => !allowed.has(name) || lowered.indexOf(name) !== index)
  return refused === undefined
    ? Either.right({
        "user-agent": "coffer",
        ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.trim()])),
        "accept-encoding": "identity"
      })
    : Either.left(`header ${refused} cannot be sent, or is a duplicate`)
}
