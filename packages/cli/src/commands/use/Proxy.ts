import { UseHost } from "@coffer/domain/secrets/UseRule"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type { CommandLineSettings } from "@coffer/client/internal/Settings"
import { atEnvPlain } from "../../grammar/Command.js"
import { repeatedOption } from "../../grammar/Fields.js"
import { partsOf, pathForms } from "../../grammar/PlacePath.js"
import { type ArgumentSpec, type Codec, flag } from "../../grammar/Specs.js"
import type { BaseUrl } from "../../proxy/ProxyEnvironment.js"

/** `VARIABLE=HOST[/PATH]`. */
const baseUrl: Codec<BaseUrl> = {
  value: "text",
  description: "",
  decode: (name, given) => {
    const [, variable = "", target = ""] =
      /^([A-Za-z_][A-Za-z0-9_]*)=(?:https:\/\/)?([^/]+(?:\/[!-~]*)?)$/.exec(given) ?? []
    return Schema.is(UseHost)(target.split("/")[0] ?? "")
      ? Either.right({ variable, target: target.replace(/\/$/, "") })
      : Either.left(`${name} must be VARIABLE=HOST, as in OPENAI_BASE_URL=api.openai.com/v1`)
  }
}

interface ProxyWords {
  readonly place: CommandLineSettings
  readonly command: ReadonlyArray<string>
}

/** A place before `--`, and the command after it. */
const words: ArgumentSpec<ProxyWords> = {
  data: {
    kind: "argument",
    name: "PLACE -- COMMAND",
    description: `The place, ${pathForms.env}, where it is not the configured one, and after -- the command with its arguments; without a command, the variables are printed`,
    least: 0,
    most: Infinity
  },
  decode: (given) => {
    const before = given.filter(({ isVerbatim }) => !isVerbatim).map(({ text }) => text)
    const command = given.filter(({ isVerbatim }) => isVerbatim).map(({ text }) => text)
    const [path, ...others] = before
    if (others.length > 0) return Either.left("write -- before the command, as in: coffer use proxy -- npm start")
    if (path === undefined) return Either.right({ place: {}, command })
    const [env, project, org] = [...(partsOf(path, 3) ?? [])].reverse()
    return env === undefined
      ? Either.left(`PLACE must be ${pathForms.env}`)
      : Either.right({
          place: { env, ...(project !== undefined && { project }), ...(org !== undefined && { org }) },
          command
        })
  }
}

export const proxyCommand = atEnvPlain("proxy", {
  description: "Run a command whose own requests are made with secrets that it never sees",
  examples: [
    "coffer use proxy -- npm start",
    "coffer use proxy acme/webshop/dev --base-url STRIPE_URL=api.stripe.com/v1 -- npm start"
  ],
  options: {
    baseUrls: repeatedOption(
      "base-url",
      baseUrl,
      "Set this variable to an address of the proxy for a host, as in OPENAI_BASE_URL=api.openai.com/v1; may be given again"
    ),
    onlyRules: flag(
      "only-rules",
      "Refuse requests to hosts without a use rule, which otherwise pass through untouched"
    ),
    words
  },
  place: ({ words: { place } }) => place,
  run: ({ call, exchange, options: { baseUrls, onlyRules, words }, path }) =>
    Effect.flatMap(
      // Loaded on demand: other commands need no proxy.
      Effect.promise(() => import("../../proxy/RunProxy.js")),
      ({ runProxy }) => Effect.asVoid(runProxy({ call, exchange, path, baseUrls, onlyRules, command: words.command }))
    )
})
