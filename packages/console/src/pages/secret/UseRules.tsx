import type { SecretPath } from "@coffer/domain/api/Paths"
import type { MatrixEnvironment } from "@coffer/domain/secrets/Matrix"
import { placementText } from "@coffer/domain/secrets/PlacementText"
import { body } from "@coffer/domain/base/Schemas"
import { newUseRule, type UseRule } from "@coffer/domain/secrets/UseRule"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { decodeForm } from "../../kit/Decode.js"
import { DialogButtons } from "../../kit/DialogButtons.js"
import { Dialog } from "../../kit/Dialog.js"
import { later } from "../../kit/Later.js"
import { useLoad } from "../../kit/Load.js"
import { Menu, MenuItem } from "../../kit/Menu.js"
import { Reading } from "../../kit/Reading.js"
import { Table } from "../../kit/Table.js"
import { Visible } from "../../kit/Visible.js"
import { noteDone } from "../../state/Done.js"

const UseForm = later(async () => (await import("./UseForm.js")).UseForm)

const Terms = body(newUseRule)

/** The terms of a rule. A rule that outlived all its accounts has none that the server would take. */
const termsOf = ({ accounts, approval, expires_at, hosts, max_kib, methods, paths, ...rest }: UseRule) => {
  const { per_day, per_minute, place, response } = rest
  const limits = { max_kib, per_day, per_minute, response, approval, expires_at }
  return decodeForm(Terms, { accounts, hosts, methods, paths, place, ...limits })
}

const who = ({ accounts }: UseRule): string => accounts.join(", ")

const revoke = (path: SecretPath, { id }: UseRule) =>
  call("useRules", (api) => api.delete({ path: { ...path, use_rule_id: id } }))

/** Says that a rule was made, changed or revoked, with its undo. */
const note = (path: SecretPath, before: UseRule | null, now: UseRule | null, done: () => void): void => {
  if (before === null) {
    if (now !== null) noteDone(`${who(now)} may use ${path.key}.`, { effect: revoke(path, now), done })
    return
  }
  const terms = termsOf(before)
  const what =
    now === null ? `The use of ${path.key} by ${who(before)} was revoked.` : `The use by ${who(before)} was changed.`
  const restore = (payload: Either.Either.Right<typeof terms>) =>
    call("useRules", (api) =>
      now === null ? api.create({ path, payload }) : api.update({ path: { ...path, use_rule_id: now.id }, payload })
    )
  noteDone(what, Either.isRight(terms) ? { effect: restore(terms.right), done } : null)
}

interface RuleProps {
  readonly path: SecretPath
  readonly rule: UseRule
  readonly changed: () => void
}

const limitsOf = ({ max_kib, per_day, per_minute, response }: UseRule): string =>
  `${per_minute} a minute, ${per_day} a day; returns ${response === "status" ? "the status alone" : `${response}, at most ${max_kib} KiB`}`

const Revoke = ({ changed, close, path, rule }: RuleProps & { readonly close: () => void }) => {
  const act = useAct()
  return (
    <Dialog title="Revoke a use rule" busy={act.isBusy} close={close}>
      <p>
        {rule.accounts.join(", ")} can no longer use <strong>{path.key}</strong> at {rule.hosts.join(", ")}. Requests
        that are under way still end.
      </p>
      <DialogButtons
        act={act}
        close={close}
        word="Revoke"
        kind="danger"
        decide={() => {
          act.run(revoke(path, rule), () => {
            changed()
            note(path, rule, null, changed)
          })
        }}
      />
    </Dialog>
  )
}

const Row = (props: RuleProps) => {
  const { changed, path, rule } = props
  const open = useSignal<"edit" | "revoke" | null>(null)
  const close = () => (open.value = null)
  const accounts = who(rule)
  const about = <span class="hidden"> the use by {accounts}</span>
  return (
    <tr>
      <th scope="row">
        <Visible text={accounts} />{" "}
        {rule.approval === "each" && <span class="badge warn">each request is approved</span>}
      </th>
      <td>
        {rule.hosts.map((host) => (
          <div key={host}>
            <code>{host}</code>
          </div>
        ))}
        <span class="quiet">
          {rule.methods.join(", ")} {rule.paths.join(" ")}
        </span>
      </td>
      <td>{placementText(rule.place)}</td>
      <td class="quiet">
        {limitsOf(rule)}
        {rule.expires_at !== null && `; until ${rule.expires_at}`}
      </td>
      <td class="actions">
        <Menu label={`Actions for the use by ${accounts}`}>
          <MenuItem run={() => (open.value = "edit")}>Edit…{about}</MenuItem>
          <MenuItem run={() => (open.value = "revoke")}>Revoke…{about}</MenuItem>
        </Menu>
        {open.value === "edit" && (
          <UseForm
            path={path}
            rule={rule}
            close={close}
            done={(now) => {
              close()
              changed()
              note(path, rule, now, changed)
            }}
          />
        )}
        {open.value === "revoke" && <Revoke {...props} close={close} />}
      </td>
    </tr>
  )
}

const Rules = ({ path }: { readonly path: SecretPath }) => {
  const isOpen = useSignal(false)
  const rules = useLoad(`${path.env_name}/${path.key}`, () =>
    Effect.map(
      call("useRules", (api) => api.list({ path })),
      ({ data }) => data
    )
  )
  return (
    <>
      <Reading of={rules}>
        {(found) =>
          found.length === 0 ? (
            <p class="quiet">Nobody may use it without seeing it.</p>
          ) : (
            <Table label="Use rules" heads={["Who", "Requests", "The value goes into", "Limits", ""]}>
              {found.map((rule) => (
                <Row key={rule.id} path={path} rule={rule} changed={rules.reload} />
              ))}
            </Table>
          )
        }
      </Reading>
      <button type="button" onClick={() => (isOpen.value = true)}>
        Allow a use
      </button>
      {isOpen.value && (
        <UseForm
          path={path}
          rule={null}
          close={() => (isOpen.value = false)}
          done={(made) => {
            isOpen.value = false
            rules.reload()
            note(path, null, made, rules.reload)
          }}
        />
      )}
    </>
  )
}

/** The rules on the use of a secret in requests of the server by callers who do not see it. */
export const UseRules = ({ env, path }: { readonly env: MatrixEnvironment; readonly path: SecretPath }) => (
  <section aria-labelledby="secret-uses">
    <h2 id="secret-uses">Use without seeing</h2>
    {env.allowed.includes("admin") ? (
      <>
        <p>The server makes these requests and puts the value in. The caller gets the response, never the value.</p>
        <Rules path={path} />
      </>
    ) : (
      <p class="quiet">
        To see and change its use rules, one needs a rule with the permission admin for {path.env_name}, and the role
        developer.
      </p>
    )}
  </section>
)
