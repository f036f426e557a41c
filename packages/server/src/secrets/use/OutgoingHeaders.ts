import { useHeaders } from "@coffer/domain/secrets/UseHeaders"
import * as Either from "effect/Either"

/** The headers of the request that leaves, in lowercase. Or says which one is refused. */
export const outgoingHeaders = (
  headers: Readonly<Record<string, string>>
): Either.Either<Readonly<Record<string, string>>, string> => {
  const names = Object.keys(headers)
  const lowered = names.map((name) => name.toLowerCase())
  const refused = lowered.find((name, index) => !useHeaders.has(name) || lowered.indexOf(name) !== index)
  return refused === undefined
    ? Either.right({
        "user-agent": "coffer",
        ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.trim()])),
        "accept-encoding": "identity"
      })
    : Either.left(`header ${refused} cannot be sent, or is a duplicate`)
}
