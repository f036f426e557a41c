import type { Actor } from "@coffer/domain/access/Actor"
import type { permissions } from "@coffer/domain/access/AclRule"
import { GroupName } from "@coffer/domain/base/Names"
import { Pattern } from "@coffer/domain/base/Pattern"
import { Access } from "@coffer/server/access/Access"
import { AccessTable } from "@coffer/server/directory/acl/AccessTable"
import { Acl } from "@coffer/server/directory/acl/Acl"
import { Groups } from "@coffer/server/directory/groups/Groups"
import { Effect } from "effect"
import { asActor, email, envPath, orgPath, outcome, transaction } from "../support/Services.js"

export const issuer = "https://id.example.com"

/** The settings of a server that takes groups from its provider. */
export const providerSettings = {
  SERVICE_PUBLIC_URL: "https://coffer.example.com",
  SERVICE_OIDC_ISSUER: issuer,
  SERVICE_OIDC_CLIENT_ID: "coffer",
  SERVICE_OIDC_CLIENT_SECRET: "secret",
  SERVICE_OIDC_GROUPS_CLAIM: "groups",
  SERVICE_OIDC_GROUPS_MAX_AGE: "1h"
}

export const named = (name: string) => GroupName.make(name)

export const into = <A extends Parameters<Access["org"]>[1]>(action: A) =>
  Effect.flatMap(Access, (access) => access.org(orgPath(), action))

export const creating = (actor: Actor, name: string) =>
  Effect.flatMap(Groups, (groups) =>
    transaction(Effect.flatMap(into("group.create"), (place) => groups.create(place, named(name))))
  ).pipe(asActor(actor))

export const adding = (actor: Actor, name: string, address: string) =>
  Effect.flatMap(Groups, (groups) =>
    transaction(Effect.flatMap(into("group.members"), (place) => groups.addMember(place, named(name), email(address))))
  ).pipe(asActor(actor))

export const setting = (actor: Actor, name: string, ...addresses: ReadonlyArray<string>) =>
  Effect.flatMap(Groups, (groups) =>
    transaction(
      Effect.flatMap(into("group.members"), (place) => groups.setMembers(place, named(name), addresses.map(email)))
    )
  ).pipe(asActor(actor))

export const granting = (
  actor: Actor,
  group: string,
  permission: (typeof permissions)[number],
  project = "*",
  env = "*",
  expires_at?: string
) =>
  Effect.flatMap(Acl, (acl) =>
    transaction(
      Effect.flatMap(into("acl.grant"), (place) =>
        acl.grant(place, {
          subject_type: "group",
          group: named(group),
          project_pattern: Pattern.to.make(project),
          env_pattern: Pattern.to.make(env),
          permission,
          ...(expires_at !== undefined && { expires_at })
        })
      )
    )
  ).pipe(asActor(actor))

export const doors = (actor: Actor) =>
  Effect.forEach(["webshop", "api"], (project) =>
    Effect.forEach(["dev", "prod"], (env) =>
      Effect.forEach(["secret.use", "secret.read", "secret.write", "secret.destroy"] as const, (action) =>
        outcome(Effect.flatMap(Access, (access) => access.right(envPath(env, project), action)).pipe(asActor(actor)))
      )
    )
  )

export const tableOf = (admin: Actor, address: string) =>
  Effect.gen(function* () {
    const table = yield* AccessTable
    const { data } = yield* Effect.flatMap(into("acl.explain"), (place) =>
      table.read(place, { subject: email(address) })
    )
    return data
  }).pipe(asActor(admin))

export const facts = (log: ReadonlyArray<{ readonly action: string; readonly metadata: unknown }>, action: string) =>
  log.filter((entry) => entry.action === action).map(({ metadata }) => metadata)
