import { type Permission, permissions } from "@coffer/domain/access/AclRule"
import { Reason } from "@coffer/domain/requests/ApprovalRequest"
import type { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { call } from "../client/Calls.js"
import { mayBeGiven } from "../client/Organizations.js"
import { noteProposed } from "../state/Proposed.js"
import { useAct } from "./Act.js"
import { Choose } from "./Choose.js"
import { Dialog } from "./Dialog.js"
import { Problem } from "./Problem.js"
import { spanText } from "./Spans.js"
import { TextField } from "./TextField.js"

const isReason = Schema.is(Reason)

const hour = 3_600
const spans: ReadonlyMap<string, number> = new Map(
  [hour, 4 * hour, 8 * hour, 24 * hour, 7 * 24 * hour, 30 * 24 * hour].map((seconds) => [spanText(seconds), seconds])
)
const [first = ""] = spans.keys()

interface AskProps {
  readonly org: OrgName
  readonly project: ProjectName
  /** The environments to choose from; the first one is chosen. */
  readonly envs: ReadonlyArray<EnvName>
  readonly permission: Permission
  readonly close: () => void
}

/** Asks the people who decide for access to an environment, for a while. */
export const AskAccessDialog = ({ close, envs, org, permission, project }: AskProps) => {
  const chosen = useSignal<EnvName | null>(null)
  const wanted = useSignal<Permission>(permission)
  const span = useSignal(first)
  const reason = useSignal("")
  const act = useAct()
  const env = chosen.value ?? envs[0]
  const text = reason.value.trim()
  return (
    <Dialog title="Ask for access" busy={act.isBusy} close={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const expires_in = spans.get(span.peek())
          if (env === undefined || expires_in === undefined || !isReason(text)) return
          const payload = { kind: "access" as const, project, env, permission: wanted.peek(), expires_in, reason: text }
          act.run(
            Effect.map(
              call("requests", (api) => api.create({ path: { org_name: org }, payload })),
              (request) => {
                noteProposed(org, request)
              }
            ),
            close
          )
        }}
      >
        <p>
          The people who approve changes of {envs.length === 1 ? `${project}/${envs.join()}` : "the environment"}{" "}
          decide; without a protection, the admins and owners. The access ends by itself.
        </p>
        <div class="fields">
          {env !== undefined && envs.length > 1 && (
            <Choose label="Environment" value={env} words={envs} choose={(name) => (chosen.value = name)} />
          )}
          <Choose
            label="Permission"
            value={wanted.value}
            words={permissions.filter((one) => mayBeGiven(org, one))}
            choose={(word) => (wanted.value = word)}
          />
          <Choose label="For" value={span.value} words={[...spans.keys()]} choose={(word) => (span.value = word)} />
        </div>
        <TextField label="Reason" text={reason} placeholder="INC-12" maxLength={500} hint="For the people who decide" />
        <Problem failure={act.failure.value} />
        <footer>
          <button type="button" disabled={act.isBusy.value} onClick={close}>
            Cancel
          </button>
          <button class="primary" disabled={act.isBusy.value || !isReason(text)}>
            Ask
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
