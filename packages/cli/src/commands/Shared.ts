import * as Args from "@effect/cli/Args"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Options from "@effect/cli/Options"
import { makeClient } from "@coffer/domain/client/CofferClient"
import { type Credential, credentialFor } from "@coffer/domain/client/Credentials"
import type { ServerUrl } from "@coffer/domain/client/ServerUrl"
import { type Given, loadSettings } from "@coffer/domain/client/Settings"
import { Effect, Either, Option, Schema } from "effect"
import { unmark } from "../Verbatim.js"
import { Version } from "../Version.js"
import { sentenceFor } from "./Checked.js"

const text = (name: string, description: string) =>
  Options.text(name).pipe(Options.withDescription(description), Options.optional)

export const serverUrl = text("server-url", "The server's address (SERVICE_SERVER_URL, server_url)")
export const org = text("org", "The organization (SERVICE_ORG, org)")
export const project = text("project", "The project (SERVICE_PROJECT, project)")
export const env = text("env", "The environment (SERVICE_ENV, env)")
export const json = Options.boolean("json").pipe(Options.withDescription("Print the API's own records, for machines"))
export const yes = Options.boolean("yes").pipe(Options.withDescription("Do not ask, where something is destroyed"))

/** The options that name the place a command works at. */
export const atServer = { serverUrl, json } as const
export const atOrg = { serverUrl, org, json } as const
export const atProject = { serverUrl, org, project, json } as const
export const atEnv = { serverUrl, org, project, env, json } as const

/** An argument with a value of this schema. */
export const argument = <A>(name: string, schema: Schema.Schema<A, string>, description: string) => {
  const decode = Schema.decodeEither(schema)
  return Args.text({ name }).pipe(
    Args.mapEffect((word) => Either.mapLeft(decode(unmark(word)), (error) => HelpDoc.p(sentenceFor(name, error)))),
    Args.withDescription(description)
  )
}

interface GivenOptions {
  readonly serverUrl: Option.Option<string>
  readonly org?: Option.Option<string>
  readonly project?: Option.Option<string>
  readonly env?: Option.Option<string>
}

const value = (option: Option.Option<string> | undefined) =>
  option === undefined ? undefined : Option.getOrUndefined(option)

export const given = (options: GivenOptions): Given => ({
  serverUrl: value(options.serverUrl),
  org: value(options.org),
  project: value(options.project),
  env: value(options.env)
})

/** The settings of a command. */
export const settingsOf = (options: GivenOptions) => loadSettings(given(options))

/** A client that sends this credential. The caller has checked that the credential may go to this server. */
export const clientWith = (server: ServerUrl, credential: Option.Option<Credential>) =>
  Effect.flatMap(Version, (version) => makeClient({ server, credential, program: "cli", version }))

/** A client for a server, with the credential for that server. */
export const connect = Effect.fnUntraced(function* (server: ServerUrl) {
  return yield* clientWith(server, Option.some(yield* credentialFor(server)))
})
