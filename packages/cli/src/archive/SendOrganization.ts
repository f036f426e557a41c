import { ArchivedDeclarations, ArchivedOrganization } from "@coffer/domain/archive/ArchivedOrganization"
import { ArchivedVersions } from "@coffer/domain/archive/ArchivedSecret"
import { recordsOfCalls, structureLines } from "@coffer/domain/archive/Calls"
import type { OrganizationImport } from "@coffer/domain/archive/Import"
import { defined } from "@coffer/domain/base/Defined"
import { patiently } from "@coffer/client/internal/Exchange"
import { Conflict } from "@coffer/domain/errors/Errors"
import { OrgName } from "@coffer/domain/base/Names"
import { isOrgNameRefused } from "@coffer/domain/directory/OrgNameRefusals"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { momentText } from "../base/Moments.js"
import type { Call, Terminal } from "../grammar/Command.js"
import { note } from "../terminal/Print.js"
import { ask, canAsk } from "../terminal/Prompts.js"
import { plural } from "../terminal/Plural.js"
import type { Progress } from "../terminal/Progress.js"
import { nameOf } from "./Contents.js"
import { type Archive, versionsOf } from "./Unpack.js"

const encodeOrganization = Schema.encode(ArchivedOrganization)
const encodeVersions = Schema.encode(ArchivedVersions)
const encodeDeclarations = Schema.encode(ArchivedDeclarations)

/** How an archive is sent. */
export interface Sending {
  readonly progress: Progress
  /** Whether a person at the terminal may be asked for another name. */
  readonly mayAsk: boolean
}

/** Cuts records into calls, by the sizes of their encoded forms. */
const inCalls = <A>(
  records: ReadonlyArray<A>,
  encoded: Effect.Effect<{ readonly data: ReadonlyArray<unknown> }, unknown>
) =>
  Effect.map(Effect.orDie(encoded), ({ data }) => {
    let end = 0
    return recordsOfCalls(data).map(({ length }) => records.slice(end, (end += length)))
  })

const decodeName = Schema.decodeOption(OrgName)

/** Asks a person for another name than one that is refused. Null if nobody is to be asked, or wants none. */
const askForName =
  ({ mayAsk, progress }: Sending) =>
  (why: string): Effect.Effect<OrgName | null, never, Terminal> =>
    Effect.gen(function* () {
      if (!mayAsk || !(yield* canAsk)) return null
      yield* progress.clear
      yield* note(why)
      for (;;) {
        const answer = yield* ask("another name for the organization (Enter gives the import up): ")
        if (answer === "") return null
        const name = decodeName(answer)
        if (Option.isSome(name)) return name.value
        yield* note("a name has 2 to 50 lowercase letters, digits and hyphens, such as acme-inc")
      }
    })

/** Does something under a name, and under other ones as long as a person has another for one that somebody else has. */
const underFreeName = <A, E, R>(
  name: OrgName,
  attempt: (name: OrgName) => Effect.Effect<A, E | Conflict, R>,
  another: ReturnType<typeof askForName>
): Effect.Effect<A, E | Conflict, R | Terminal> =>
  Effect.catchAll(attempt(name), (failure): Effect.Effect<A, E | Conflict, R | Terminal> =>
    failure instanceof Conflict && isOrgNameRefused(failure.message, name)
      ? Effect.flatMap(another(failure.message), (other) =>
          other === null ? Effect.fail(failure) : underFreeName(other, attempt, another)
        )
      : Effect.fail(failure)
  )

const sendRecords = Effect.fnUntraced(function* (
  call: Call,
  { declared, manifest, parts }: Archive,
  { id, name }: OrganizationImport,
  sending: Sending
) {
  const { progress } = sending
  const path = { import_id: id }
  for (const { declarations, project } of declared) {
    yield* progress.step(0, `writing what ${project} expects of its keys`)
    for (const data of yield* inCalls(declarations.data, encodeDeclarations(declarations))) {
      yield* call("imports", (api) => api.declared({ path, payload: { project, data } }))
    }
  }
  let sent = 0
  for (const part of parts) {
    yield* progress.step(sent / manifest.counts.versions, `writing ${nameOf(part)}`)
    const { env, project, tally } = part
    const versions = yield* versionsOf(part)
    for (const data of yield* inCalls(versions.data, encodeVersions(versions))) {
      yield* call("imports", (api) => api.secrets({ path, payload: { project, env, data } }))
    }
    sent += tally.versions
  }
  const { declared: keys, environments, fields, projects, secrets, use_rules, versions } = manifest.counts
  const counts = { projects, environments, secrets, versions, use_rules, declared: keys, ...defined({ fields }) }
  const finish = (wanted: OrgName) =>
    progress.during(
      `verifying ${plural(versions, "value")}`,
      patiently(
        call("imports", (api) => api.finish({ path, payload: { counts, ...(wanted !== name && { name: wanted }) } }))
      )
    )
  return yield* underFreeName(name, finish, askForName(sending))
})

/** How long a server may take to give an import up, before the program ends without its answer. */
const patience = "10 seconds"

const abandon = (call: Call, { expires_at, id }: OrganizationImport) =>
  call("imports", (api) => api.abandon({ path: { import_id: id } })).pipe(
    // Finalizers cannot be interrupted, not even by a timeout.
    Effect.interruptible,
    Effect.timeout(patience),
    Effect.matchEffect({
      onFailure: () =>
        note(
          `the server did not confirm that it gave the import up: nothing of it is visible, and it ends at ${momentText(expires_at)}`
        ),
      onSuccess: () =>
        note("the import was given up: nothing of it is visible, and its values are erased within the hour")
    })
  )

/** Sends an archive to a server. Whatever ends it early, an interrupt too, leaves nothing that can be seen. */
export const sendOrganization = (call: Call, archive: Archive, name: OrgName, sending: Sending) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const { progress } = sending
      const organization = structureLines(yield* Effect.orDie(encodeOrganization(archive.organization)))
      const create = (wanted: OrgName) =>
        progress.during(
          `making the structure of ${wanted}`,
          patiently(call("imports", (api) => api.create({ payload: { name: wanted, organization } })))
        )
      const started = yield* restore(underFreeName(name, create, askForName(sending)))
      const finished = yield* restore(sendRecords(call, archive, started, sending)).pipe(
        Effect.onError(() => Effect.zipRight(progress.clear, abandon(call, started)))
      )
      return { ...finished, left_out: [...started.left_out, ...(finished.left_out ?? [])] }
    })
  )
