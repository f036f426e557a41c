import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import { Effect } from "effect"
import { write } from "../Output.js"
import { bashCompletions } from "./BashCompletions.js"

const shell = Args.choice(
  [
    ["bash", "bash"],
    ["zsh", "zsh"],
    ["fish", "fish"]
  ] as const,
  { name: "SHELL" }
).pipe(Args.withDescription("bash, zsh or fish"))

/**
 * @param whole the client, with all of its commands.
 * @param descriptors these commands.
 */
export const completionsCommand = <Name extends string, R, E, A>(
  whole: Command.Command<Name, R, E, A>,
  descriptors: Parameters<typeof bashCompletions>[0]
) => {
  const writers = {
    bash: () => Effect.sync(() => bashCompletions(descriptors)),
    zsh: () => Command.getZshCompletions(whole, "coffer"),
    fish: () => Command.getFishCompletions(whole, "coffer")
  }
  return Command.make("completions", { shell }, (options) =>
    Effect.flatMap(writers[options.shell](), (lines) => write(`${lines.join("\n")}\n`))
  ).pipe(
    Command.withDescription(
      'Print what makes the tab key complete commands. Example: eval "$(coffer completions bash)"'
    )
  )
}
