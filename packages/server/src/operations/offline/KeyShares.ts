import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { StartupError } from "../../base/StartupError.js"
import { makeKeyring } from "../../keys/Keyring.js"
import { combineShares, splitKey } from "../../keys/Shares.js"

const maxInputBytes = 64 * 1024

const refused = (message: string) => new StartupError({ message })

/** Reads standard input to its end. `hint` is for a person at a terminal. */
const readInput = (hint: string) =>
  Effect.zipRight(
    process.stdin.isTTY ? Console.error(hint) : Effect.void,
    Effect.tryPromise({
      try: async () => {
        let text = ""
        for await (const chunk of process.stdin.setEncoding("utf8")) {
          text += String(chunk)
          if (text.length > maxInputBytes) break
        }
        return text
      },
      catch: () => refused("standard input cannot be read")
    }).pipe(
      Effect.filterOrFail(
        (text) => text.length <= maxInputBytes,
        () => refused("standard input is longer than 64 KiB")
      )
    )
  )

const fingerprintOf = (key: string) =>
  Effect.mapError(
    Effect.map(makeKeyring(Redacted.make(key)), ({ fingerprint }) => fingerprint),
    ({ message }) => refused(message)
  )

/** `coffer-server master-key split`: prints the shares of the key on standard input, one a line. */
export const splitMasterKey = (threshold: number, count: number) =>
  Effect.gen(function* () {
    const text = yield* readInput("Type the master key (64 hexadecimal digits), then enter and ctrl-D:")
    const key = text.trim().toLowerCase()
    if (!/^[0-9a-f]{64}$/.test(key))
      return yield* refused("standard input holds no master key of 64 hexadecimal digits")
    const fingerprint = yield* fingerprintOf(key)
    for (const share of splitKey(key, threshold, count)) yield* Console.log(share)
    yield* Console.error(
      `${count} shares of the master key with the fingerprint ${fingerprint}: any ${threshold} of them give it. Write each on paper, and keep them apart`
    )
  })

/** `coffer-server master-key combine`: prints the key of the shares on standard input. */
export const combineMasterKey = Effect.gen(function* () {
  const text = yield* readInput("Type the shares, one a line, then ctrl-D:")
  const key = yield* Effect.mapError(combineShares(text), ({ message }) => refused(message))
  yield* Console.log(key)
  yield* Console.error(`the master key has the fingerprint ${yield* fingerprintOf(key)}`)
})
