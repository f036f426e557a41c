import type { ProjectRevision } from "@coffer/domain/secrets/ProjectRevision"
import * as Effect from "effect/Effect"
import { allowedIn } from "../../client/Allowed.js"
import { call } from "../../client/Calls.js"
import { AskAccess } from "../../kit/AskAccess.js"
import { useAct } from "../../kit/Act.js"
import { Dialog } from "../../kit/Dialog.js"
import { DialogButtons } from "../../kit/DialogButtons.js"
import { useLoad } from "../../kit/Load.js"
import { Reading } from "../../kit/Reading.js"
import { ChangeTable } from "../../staging/ChangeTable.js"
import type { ProjectPlace, Sent } from "../../staging/Writes.js"

interface RevertProps {
  readonly place: ProjectPlace
  /** The revision that the environment shall be as. */
  readonly to: ProjectRevision
  readonly close: () => void
  /** Called with what was written. */
  readonly done: (sent: Sent) => void
}

/** With the ETag of a dry run, a revert writes what the dry run showed, or nothing. */
const revert = ({ org, project }: ProjectPlace, { env, revision }: ProjectRevision, etag: string | null) =>
  Effect.map(
    call("environments", (api) =>
      api.revert({
        path: { org_name: org, project_name: project, env_name: env },
        headers: etag === null ? {} : { "if-match": etag },
        payload: { to: revision, dry_run: etag === null },
        withResponse: true
      })
    ),
    ([written, { headers }]) => ({ written, etag: headers["etag"] ?? "" })
  )

interface Tried {
  /** Null without the right to write. */
  readonly plan: Effect.Effect.Success<ReturnType<typeof revert>> | null
}

/** Without the right, nothing is tried: the attempt would be refused, and recorded as such. */
const dryRun = (place: ProjectPlace, to: ProjectRevision) =>
  Effect.flatMap(allowedIn(place.org, place.project, to.env, true), (allowed) =>
    allowed.includes("write")
      ? Effect.map(revert(place, to, null), (plan): Tried => ({ plan }))
      : Effect.succeed<Tried>({ plan: null })
  )

/** Shows the changes of a revert, as its dry run reports them, and then makes the revert. */
export const RevertDialog = ({ close, done, place, to }: RevertProps) => {
  const { env, revision } = to
  const tried = useLoad("dry run", () => dryRun(place, to))
  const act = useAct()
  return (
    <Dialog title={`Revert ${env} to revision ${revision}`} class="wide" busy={act.isBusy} close={close}>
      <Reading of={tried}>
        {({ plan }) => {
          if (plan === null) {
            return (
              <>
                <p>
                  You may not write to {env}: it needs the role developer, and a rule with the permission write for{" "}
                  {env}.
                </p>
                <AskAccess {...place} envs={[env]} permission="write" />
              </>
            )
          }
          const { etag, written } = plan
          const changes = written.data.filter(({ change }) => change !== "unchanged")
          if (changes.length === 0) return <p>{`${env} has the keys and values of revision ${revision} already.`}</p>
          return (
            <>
              <p>
                {`Nothing is written yet. ${env} gets one new revision, with the keys and values of revision ${revision}.`}
              </p>
              <ChangeTable env={env} written={{ ...written, data: changes }} />
              <DialogButtons
                act={act}
                close={close}
                word={`Revert ${env}`}
                kind="primary"
                decide={() => {
                  act.run(revert(place, to, etag), (now) => {
                    done({ env, revision: now.written.revision, etag: now.etag })
                  })
                }}
              />
            </>
          )
        }}
      </Reading>
    </Dialog>
  )
}
