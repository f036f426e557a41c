import * as Schema from "effect/Schema"
import { command, type Leaf } from "../../grammar/Command.js"
import { completionContexts } from "../../grammar/CompletionContexts.js"
import { completionScripts } from "../../grammar/CompletionScripts.js"
import { argument } from "../../grammar/Fields.js"
import type { Tree } from "../../grammar/Tree.js"
import { write } from "../../terminal/Print.js"

const shell = argument("SHELL", Schema.Literal("bash", "zsh", "fish"), "The shell that reads the script")

/** @param tree the whole client, of which this command is a part. */
export const completionsCommand = (tree: () => Tree): Leaf =>
  command("completions", {
    description: "Print a shell completion script",
    examples: ['eval "$(coffer completions bash)"', "coffer completions fish > coffer.fish"],
    options: { shell },
    run: ({ shell }) => write(`${completionScripts[shell](completionContexts(tree())).join("\n")}\n`)
  })
