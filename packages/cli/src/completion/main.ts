import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { writeSync } from "node:fs"
import { Version } from "../base/Version.js"
import { complete } from "./Complete.js"

/**
 * Where `coffer __complete SYNTAX INDEX WORDS…` starts, which the completion scripts call. Prints a name a line, and exits
 * with 0 in every case.
 */
export const start = async (argv: ReadonlyArray<string>, version: string): Promise<void> => {
  const offers = await Effect.runPromise(Effect.provideService(complete(argv), Version, version))
  Option.liftThrowable(() => writeSync(1, offers.map((offer) => `${offer}\n`).join("")))()
  process.exit(0)
}
