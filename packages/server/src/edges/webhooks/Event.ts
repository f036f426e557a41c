import { matcherOf } from "@coffer/domain/base/PatternMatch"
import type { OrgName } from "@coffer/domain/base/Names"
import type { WebhookEvent } from "@coffer/domain/server/Webhook"
import { eventOfAction, fitsEvent } from "@coffer/domain/server/WebhookEvents"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { EntryRow } from "../../audit/EntryReader.js"

const Metadata = Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
const decode = Schema.decodeUnknownOption(Metadata)

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null)

/** Returns the event of an audit entry; null if it has none. Of the details, names, the version and the due date are taken. */
export const eventOf = (entry: EntryRow, organization: OrgName): WebhookEvent | null => {
  const event = eventOfAction(entry.action)
  if (event === null) return null
  const details = Option.getOrElse(decode(entry.metadata), (): Readonly<Record<string, unknown>> => ({}))
  const { account, due_at, email, env, expires_at, key, name, project, version } = details
  const isSecret = entry.resource_type === "secret"
  return {
    event,
    id: entry.id,
    time: entry.created_at,
    organization,
    project: textOf(project),
    environment: textOf(env),
    key: textOf(key),
    version: typeof version === "number" ? version : null,
    subject: isSecret ? null : (textOf(email) ?? textOf(account) ?? textOf(name)),
    due_at: textOf(due_at) ?? (event === "service_account.expiring" ? textOf(expires_at) : null),
    actor: entry.actor_name
  }
}

/** Deliveries of a lane are sent one after the other. */
export const laneOf = ({ environment, project }: WebhookEvent): string => `${project ?? ""}/${environment ?? ""}`

const fitsPlace = (patterns: ReadonlyArray<string>, { environment, project }: WebhookEvent): boolean => {
  if (environment === null) return true
  const fitsEnv = matcherOf(environment)
  const fitsProject = matcherOf(project ?? "")
  return patterns.some((pattern) => {
    const [first = "", second] = pattern.split("/")
    return second === undefined ? fitsEnv(first) : fitsProject(first) && fitsEnv(second)
  })
}

export interface Wanted {
  readonly events: ReadonlyArray<string>
  readonly environments: ReadonlyArray<string>
}

/** Whether a webhook asks for an event. Events without an environment fit whatever its environments are. */
export const isWanted = ({ environments, events }: Wanted, event: WebhookEvent): boolean =>
  fitsEvent(events, event.event) && fitsPlace(environments, event)
