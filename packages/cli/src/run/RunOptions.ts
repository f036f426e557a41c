import { pathForms } from "../grammar/PlacePath.js"
import { type OptionData, placeOptions, type Syntax } from "../grammar/Data.js"

const valued = (name: string, value: string, description: string): OptionData => ({
  kind: "option",
  name,
  description,
  value
})

const flag = (name: string, description: string): OptionData => ({ kind: "option", name, description })

/** The options of `run`, and its one argument: the parser, the help and the completions all come from here. */
export const runSyntax: Syntax = {
  options: [
    placeOptions.serverUrl,
    placeOptions.org,
    placeOptions.project,
    placeOptions.env,
    {
      ...valued("also", "PLACE", `A further place, ${pathForms.env}, whose values win; may be given again`),
      isRepeatable: true,
      names: "env-path"
    },
    {
      ...valued("only", "KEYS", "Only these keys, separated by commas; may be given again"),
      isRepeatable: true,
      names: "keys"
    },
    {
      ...valued(
        "allow-env",
        "KEY",
        "Pass on this key although its name makes other programs run code; may be given again"
      ),
      isRepeatable: true
    },
    {
      ...valued(
        "lease",
        "NAME=ROLE",
        "Lease a user of a database by this role, as NAME_USER, NAME_PASSWORD and NAME_URL; may be given again"
      ),
      isRepeatable: true
    },
    {
      ...valued(
        "file",
        "KEY=PATH",
        "Write this key's value to a file of this path in a private folder; KEY has the path; may be given again"
      ),
      isRepeatable: true
    },
    valued(
      "files",
      "DIR",
      "Write every value to a file in this directory of the private folder, each named as its key"
    ),
    {
      ...flag(
        "non-interactive",
        "Take no session: an API key, or the delegation for the place; as SERVICE_NON_INTERACTIVE=1"
      ),
      isCommon: true
    },
    flag("no-override", "Let inherited variables win over secrets of the same name; without it, secrets win"),
    flag("mask", "Mask the values in the command's output, which then is a pipe and no terminal"),
    flag("check", "Do not start if a declared key is missing or its value breaks its pattern, and name the keys"),
    flag(
      "quiet",
      "Write no notes, such as the keys that are left out; why the command did not start is always written"
    ),
    flag("watch", "Start the command again when the environment has changed"),
    valued("watch-interval", "DURATION", "How often --watch asks for changes (5s)"),
    valued("stop-signal", "SIGNAL", "What --watch ends the command with (TERM)"),
    valued("stop-timeout", "DURATION", "How long the command may take to end before --watch kills it (10s)"),
    valued("signal", "SIGNAL", "What --watch sends to the command instead of starting it again, such as HUP"),
    flag("offline-fallback", "Keep an encrypted copy of the secrets, and use it when the server cannot be reached"),
    valued("offline-max-age", "DURATION", "How old the copy of --offline-fallback may be (24h)")
  ],
  arguments: [
    {
      kind: "argument",
      name: "PLACE --",
      description: `The place, ${pathForms.env} with at least one slash; only before --, with options between the two at most, as in: acme/webshop/prod -- npm start`,
      least: 0,
      most: 1,
      names: "place"
    },
    {
      kind: "argument",
      name: "COMMAND",
      description: "The command and its arguments; everything from here on is the command's",
      least: 1,
      most: Infinity
    }
  ]
}
