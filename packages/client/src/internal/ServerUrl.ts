import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"

/** Where the URL was configured. An API key is sent to a server from a `file` only if it is trusted. */
export type Source = "flag" | "variable" | "file" | "default"

export interface ServerUrl {
  /** The prefix of all request paths, without a trailing slash. */
  readonly base: string
  readonly origin: string
  /** Whether the host is the loopback interface. */
  readonly local: boolean
  readonly secure: boolean
  readonly source: Source
}

export class BadUrl extends Data.TaggedError("BadUrl")<{ readonly message: string }> {}

/** Whether a host is this machine. */
export const isLocal = (hostname: string) => /^(localhost|\[::1\]|127\.[0-9]+\.[0-9]+\.[0-9]+)$/.test(hostname)

/** Parses the URL of a server. The error message does not repeat the text, which may contain a password. */
export const parseServerUrl = (text: string, source: Source): Either.Either<ServerUrl, BadUrl> =>
  Either.try({ try: () => new URL(text), catch: () => new BadUrl({ message: "is not a URL" }) }).pipe(
    Either.flatMap((url) => {
      const refuse = (message: string) => Either.left(new BadUrl({ message }))
      if (url.protocol !== "http:" && url.protocol !== "https:") return refuse("must start with http:// or https://")
      if (url.username !== "" || url.password !== "") return refuse("must hold no user name and no password")
      if (url.search !== "" || url.hash !== "") return refuse("must end with the path: no ? and no #")
      return Either.right({
        base: url.origin + url.pathname.replace(/\/+$/, ""),
        origin: url.origin,
        local: isLocal(url.hostname),
        secure: url.protocol === "https:",
        source
      })
    })
  )

/** Logs a warning if the credential is sent over unencrypted HTTP to another machine. */
export const warnOfClearText = ({ local, origin, secure }: ServerUrl): Effect.Effect<void> =>
  secure || local
    ? Effect.void
    : Effect.logWarning(`${origin} is not https: your credential travels in clear text, for anyone on the way to read`)
