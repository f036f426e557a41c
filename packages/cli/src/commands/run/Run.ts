import * as Effect from "effect/Effect"
import { WrongUsage } from "../../base/Failures.js"
import { command, type Leaf } from "../../grammar/Command.js"
import { runSyntax } from "../../run/RunOptions.js"

/** `run` for the help and the completions. It starts in `main.ts`, without the other commands. */
export const runCommand: Leaf = {
  ...command("run", {
    description: "Run a command that sees the secrets as its environment variables",
    examples: ["coffer run --env prod -- npm start", "coffer run acme/webshop/prod -- npm start"],
    options: {},
    run: () => Effect.fail(new WrongUsage({ message: "write run first: coffer run [OPTIONS] -- COMMAND" }))
  }),
  ...runSyntax
}
