import type { ServerUrl } from "@coffer/client/internal/ServerUrl"
import { inStageOrder } from "@coffer/domain/directory/EnvironmentOrder"
import type { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Failure } from "../../base/Failures.js"
import { type Call, connect } from "../../grammar/Command.js"
import type { Output } from "../../terminal/Output.js"
import { note } from "../../terminal/Print.js"

type Access<A, E = never> = Effect.Effect<A, E, Output | Scope.Scope>

/** The names of one kind that a server has at one place. */
export interface Shelf<Name extends string> {
  /** One of its kind, and the place, for messages. */
  readonly what: string
  readonly where: string
  /** The command that lists them. */
  readonly list: string
  /** Whether this command created the place: then nothing is inside that the caller could have missed. */
  readonly isInNew: Access<boolean>
  /** Undefined if they cannot be looked up. */
  readonly names: Access<ReadonlyArray<Name> | undefined>
  readonly create: (name: Name) => Access<void, Failure>
}

interface Listed<Name> {
  readonly data: ReadonlyArray<{ readonly name: Name }>
}

class NoResponse extends Data.TaggedError("NoResponse")<{ readonly message: string }> {}

const noResponse = () => new NoResponse({ message: "no response within 10 s" })

/**
 * Returns the names on a server, as far as the credential shows them. If the server is unreachable or denies access, the
 * lists stay empty and one note says so.
 */
export const openCatalog = Effect.fnUntraced(function* (server: ServerUrl) {
  const connection = yield* Effect.cached(connect(server))
  const created = new Set<string>()
  let isOpen = true

  const shelf = <Name extends string>(
    { parent, ...words }: Pick<Shelf<Name>, "what" | "where" | "list"> & { readonly parent: string },
    read: (call: Call) => Effect.Effect<Listed<Name>, Failure>,
    create: (call: Call, name: Name) => Effect.Effect<unknown, Failure>
  ): Shelf<Name> => ({
    ...words,
    isInNew: Effect.sync(() => created.has(parent)),
    names: Effect.suspend(() => {
      if (!isOpen) return Effect.succeed(undefined)
      return Effect.flatMap(connection, ({ call }) => read(call)).pipe(
        Effect.timeoutFail({ duration: "10 seconds", onTimeout: noResponse }),
        Effect.map(({ data }) => data.map(({ name }) => name)),
        Effect.catchAll(({ message }) => {
          isOpen = false
          return Effect.as(note(`what is at ${server.origin} could not be looked up: ${message}`), undefined)
        })
      )
    }),
    create: (name) =>
      Effect.flatMap(connection, ({ call }) => create(call, name)).pipe(
        Effect.tap(() => Effect.sync(() => created.add(`${parent}/${name}`))),
        Effect.asVoid
      )
  })

  return {
    orgs: shelf<OrgName>(
      { what: "organization", where: "", list: "coffer org list", parent: "" },
      (call) => call("organizations", (api) => api.list({})),
      (call, name) => call("organizations", (api) => api.create({ payload: { name } }))
    ),
    projectsOf: (org: OrgName) => {
      const path = { org_name: org }
      return shelf<ProjectName>(
        { what: "project", where: ` in ${org}`, list: `coffer project list --org ${org}`, parent: `/${org}` },
        (call) => call("projects", (api) => api.list({ path })),
        (call, name) => call("projects", (api) => api.create({ path, payload: { name } }))
      )
    },
    envsOf: (org: OrgName, project: ProjectName) => {
      const path = { org_name: org, project_name: project }
      return shelf<EnvName>(
        {
          what: "environment",
          where: ` in ${org}/${project}`,
          list: `coffer env list ${org}/${project}`,
          parent: `/${org}/${project}`
        },
        (call) =>
          Effect.map(
            call("environments", (api) => api.list({ path })),
            ({ data }) => ({ data: inStageOrder(data) })
          ),
        (call, name) => call("environments", (api) => api.create({ path, payload: { name } }))
      )
    }
  }
})
