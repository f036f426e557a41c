import * as Effect from "effect/Effect"
import { WrongUsage } from "../../base/Failures.js"
import { command, type Leaf } from "../../grammar/Command.js"
import { syntaxOf } from "../../grammar/Specs.js"
import { renderSpecs } from "../../run/render/RenderOptions.js"

/** `render` for the help and the completions. It starts in `main.ts`, without the other commands. */
export const renderCommand: Leaf = {
  ...command("render", {
    description: "Write a file from a template: {{KEY}} stands for the value of a secret",
    examples: [
      "coffer render app.conf.tpl",
      "coffer render app.conf.tpl --output app.conf --mode 0640",
      "coffer render app.conf.tpl --output app.conf --check"
    ],
    options: {},
    run: () => Effect.fail(new WrongUsage({ message: "write render first: coffer render TEMPLATE [OPTIONS]" }))
  }),
  ...syntaxOf(Object.values(renderSpecs))
}
