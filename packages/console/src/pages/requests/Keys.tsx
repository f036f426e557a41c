import type { ApprovalRequest, RequestedKey } from "@coffer/domain/requests/ApprovalRequest"
import type { OrgName } from "@coffer/domain/base/Names"
import { useEffect } from "preact/hooks"
import { useAct } from "../../kit/Act.js"
import { Problem } from "../../kit/Problem.js"
import { useStillOpen } from "../../kit/StillOpen.js"
import { StoredText } from "../../kit/StoredText.js"
import { Link } from "../../routing/Link.js"
import { secretAddress } from "../../routing/Places.js"
import { hide, readValues, show, shown } from "./RequestValues.js"

/** The effects on a key, in words and in the colors of a review. */
const changes: Readonly<Record<string, readonly [word: string, colour: string]>> = {
  created: ["create", "created"],
  updated: ["change", "updated"],
  deleted: ["delete", "deleted"],
  undeleted: ["undelete", "created"],
  destroyed: ["destroy versions", "deleted"],
  due: ["due date", "updated"],
  use_rule: ["use rules", "updated"]
}

const versionOf = ({ change, version }: RequestedKey): string => {
  if (change === "created") return `v${version + 1}`
  return change === "updated" ? `v${version} → v${version + 1}` : version === 0 ? "" : `v${version}`
}

interface KeysProps {
  readonly org: OrgName
  readonly request: ApprovalRequest
  readonly keys: ReadonlyArray<RequestedKey>
}

/** The keys that a change alters, without values: these come when a person asks, and go again. */
export const Keys = ({ keys, org, request }: KeysProps) => {
  const { env, id, project, requester, state } = request
  const act = useAct()
  const isOpen = useStillOpen()
  const values = shown.value?.id === id ? shown.value.values : null
  const setsValues = keys.some(({ change }) => change === "created" || change === "updated")
  useEffect(
    () => () => {
      if (shown.peek()?.id === id) hide()
    },
    [id]
  )
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label={`Changes of ${project}/${env}`}>
        <table class="list changes">
          <caption class="hidden">Keys that the request of {requester} changes</caption>
          <thead class="hidden">
            <tr>
              <th scope="col">Change</th>
              <th scope="col">Key</th>
              <th scope="col">Version</th>
            </tr>
          </thead>
          <tbody>
            {keys.map((one) => {
              const [word, colour] = changes[one.change] ?? [one.change, "updated"]
              const value = values?.get(one.key)
              return (
                <tr key={`${one.key} ${one.change}`}>
                  <td>
                    <span class={`badge change-${colour}`}>{word}</span>
                  </td>
                  <td>
                    <Link to={secretAddress(org, project, env, one.key)} class="key">
                      {one.key}
                    </Link>
                    {value !== undefined && (
                      <output class="approvals-value">
                        <StoredText text={value} />
                      </output>
                    )}
                  </td>
                  <td class="quiet">{versionOf(one)}</td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
      {setsValues && (state === "pending" || values !== null) && (
        <p class="row">
          <button
            type="button"
            disabled={act.isBusy.value}
            onClick={() => {
              if (values !== null) return hide()
              act.run(readValues(org, request), (found) => {
                // The values may arrive after the list has changed, or the page.
                if (isOpen()) show(found)
              })
            }}
          >
            {values === null ? "Reveal" : "Hide"}
            <span class="hidden"> the values of the request of {requester}</span>
          </button>
          <span class="quiet">The audit log records that you read them.</span>
        </p>
      )}
      <Problem failure={act.failure.value} />
    </>
  )
}
