import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import { Effect } from "effect"
import { write } from "../Output.js"
import { type Descriptor, placesOf } from "./CompletionPlaces.js"
import { completionScripts } from "./CompletionScripts.js"

const shell = Args.choice(
  [
    ["bash", "bash"],
    ["zsh", "zsh"],
    ["fish", "fish"]
  ] as const,
  { name: "SHELL" }
).pipe(Args.withDescription("bash, zsh or fish"))

const make = (places: Effect.Effect<ReturnType<typeof placesOf>>) =>
  Command.make("completions", { shell }, (options) =>
    Effect.flatMap(places, (all) => write(`${completionScripts[options.shell](all).join("\n")}\n`))
  ).pipe(
    Command.withDescription(
      'Print what makes the tab key complete commands. Example: eval "$(coffer completions bash)"'
    )
  )

/** @param others the client's other commands. */
export const completionsCommand = (others: ReadonlyArray<Descriptor>): ReturnType<typeof make> => {
  const command: ReturnType<typeof make> = make(Effect.sync(() => placesOf([...others, command.descriptor])))
  return command
}
