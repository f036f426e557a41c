import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import { Effect } from "effect"
import { write } from "../Output.js"

const writers = {
  bash: Command.getBashCompletions,
  zsh: Command.getZshCompletions,
  fish: Command.getFishCompletions
} as const

const shell = Args.choice(
  [
    ["bash", "bash"],
    ["zsh", "zsh"],
    ["fish", "fish"]
  ] as const,
  { name: "SHELL" }
).pipe(Args.withDescription("bash, zsh or fish"))

/** @param whole the client, with all of its commands. */
export const completionsCommand = <Name extends string, R, E, A>(whole: () => Command.Command<Name, R, E, A>) =>
  Command.make("completions", { shell }, (options) =>
    Effect.flatMap(writers[options.shell](whole(), "coffer"), (lines) => write(`${lines.join("\n")}\n`))
  ).pipe(
    Command.withDescription(
      'Print what makes the tab key complete commands. Example: eval "$(coffer completions bash)"'
    )
  )
