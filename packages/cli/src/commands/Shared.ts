import * as Args from "@effect/cli/Args"
import * as Options from "@effect/cli/Options"
import { CofferClient } from "@coffer/domain/client/CofferClient"
import { type Credential, credentialFor, NotAuthenticated } from "@coffer/domain/client/Credentials"
import type { ServerUrl } from "@coffer/domain/client/ServerUrl"
import { type Given, loadSettings } from "@coffer/domain/client/Settings"
import { Unauthorized } from "@coffer/domain/Errors"
import { Effect, Option, type Schema } from "effect"
import { Version } from "../Version.js"

const text = (name: string, description: string) =>
  Options.text(name).pipe(Options.withDescription(description), Options.optional)

export const serverUrl = text("server-url", "The server's address (SERVICE_SERVER_URL, server_url)")
export const org = text("org", "The organization (SERVICE_ORG, org)")
export const project = text("project", "The project (SERVICE_PROJECT, project)")
export const env = text("env", "The environment (SERVICE_ENV, env)")
export const json = Options.boolean("json").pipe(Options.withDescription("Print the API's own records, for machines"))
export const yes = Options.boolean("yes").pipe(Options.withDescription("Do not ask, where something is destroyed"))

/** What a command needs to know of where it works, from the outside in. */
export const atServer = { serverUrl, json } as const
export const atOrg = { serverUrl, org, json } as const
export const atProject = { serverUrl, org, project, json } as const
export const atEnv = { serverUrl, org, project, env, json } as const

/**
 * An argument that a schema describes. Every argument has one: the parser takes an option that it does not know for an
 * argument.
 */
export const argument = <A>(name: string, schema: Schema.Schema<A, string>, description: string) =>
  Args.text({ name }).pipe(Args.withSchema(schema), Args.withDescription(description))

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

/** The settings that hold for a command. */
export const settingsOf = (options: GivenOptions) => loadSettings(given(options))

/** A client that sends this credential; whether it may go there is settled by whoever gives it. */
export const clientWith = (server: ServerUrl, credential: Option.Option<Credential>) =>
  Effect.flatMap(Version, (version) =>
    Effect.provide(CofferClient, CofferClient.Default({ server, credential, program: "cli", version }))
  )

/** What the server says to a credential that it does not take, as the one that it was. */
const refused = (server: ServerUrl, credential: Credential) =>
  new NotAuthenticated({
    message:
      credential.type === "session"
        ? `your session at ${server.origin} has ended: run coffer login`
        : `${server.origin} does not take your API key, which is mistyped, revoked, expired or another server's: check SERVICE_API_KEY`
  })

/** The client for a server, with the credential that goes there. */
export const connect = Effect.fnUntraced(function* (server: ServerUrl) {
  const credential = yield* credentialFor(server)
  const client = yield* clientWith(server, Option.some(credential))
  const call = <A, E, R>(f: Parameters<typeof client.call<A, E, R>>[0]) =>
    Effect.mapError(client.call(f), (error) => (error instanceof Unauthorized ? refused(server, credential) : error))
  return { call } as const
})

/** The calls of the service, as commands make them. */
export type Client = Effect.Effect.Success<ReturnType<typeof connect>>
