import { patiently } from "@coffer/client/internal/Exchange"
import type { AuditVerification } from "@coffer/domain/audit/AuditEntry"
import type { OrgName } from "@coffer/domain/base/Names"
import { useSignal } from "@preact/signals"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { CopyText } from "../../kit/CopyText.js"
import { Problem } from "../../kit/Problem.js"

const Result = ({ archived, entries, first_invalid_seq, head, valid }: AuditVerification) => (
  <div class={valid ? "audit-result" : "audit-result bad"}>
    <p role="status">
      {valid
        ? `No entry was changed, removed or inserted: ${entries} entries are valid.`
        : `The log was altered: entry ${first_invalid_seq ?? "unknown"} is the first that is not valid.`}
    </p>
    {archived !== undefined && <p>Entries up to {archived} are in archives, which the operator can verify.</p>}
    {head !== null && (
      <>
        <p>
          Record the head elsewhere: with it, a later check also finds entries that were cut off the end.
          <br />
          <code>
            {head.seq} {head.chain}
          </code>
        </p>
        <p class="row">
          <CopyText label="Copy the head" text={`${head.seq} ${head.chain}`} />
        </p>
      </>
    )}
  </div>
)

/** Checks the chain of the log. */
export const Verify = ({ org }: { readonly org: OrgName }) => {
  const found = useSignal<AuditVerification | null>(null)
  const act = useAct()
  return (
    <div class="audit-verify">
      <button
        type="button"
        disabled={act.isBusy.value}
        onClick={() => {
          act.run(
            patiently(call("audit", (api) => api.verify({ path: { org_name: org }, urlParams: {} }))),
            (result) => (found.value = result)
          )
        }}
      >
        Verify the log
      </button>
      {act.isBusy.value && (
        <>
          {" "}
          <progress aria-label="The log is being verified" />
        </>
      )}
      <Problem failure={act.failure.value} />
      {found.value !== null && !act.isBusy.value && <Result {...found.value} />}
    </div>
  )
}
