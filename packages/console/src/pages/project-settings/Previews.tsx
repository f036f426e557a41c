import type { ProjectPath } from "@coffer/domain/api/Paths"
import { previewDefaults, type Previews as Allowed, previewTerms } from "@coffer/domain/access/Previews"
import { body } from "@coffer/domain/base/Schemas"
import { useSignal } from "@preact/signals"
import * as Either from "effect/Either"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Choose } from "../../kit/Choose.js"
import { ConfirmButton } from "../../kit/Confirm.js"
import { decodeForm } from "../../kit/Decode.js"
import { ends } from "../../client/Ending.js"
import { Problem } from "../../kit/Problem.js"
import { TextField } from "../../kit/TextField.js"
import { When } from "../../kit/When.js"
import { missingInOrg } from "../../client/Organizations.js"
import { noteDone } from "../../state/Done.js"
import type { Settings } from "./Settings.js"

const Terms = body(previewTerms)

const labels = { from: "Copies of", pattern: "Named", max: "At most, at once", longest: "Each lasts at most" }

interface PreviewsProps {
  readonly path: ProjectPath
  readonly settings: Settings
  readonly reload: () => void
}

/** The rules of a project for previews, read-only. */
const Facts = ({ now }: { readonly now: Allowed }) => (
  <dl class="facts">
    <dt>Copies of</dt>
    <dd>{now.from}</dd>
    <dt>Named</dt>
    <dd>
      <code>{now.pattern}</code>
    </dd>
    <dt>At most</dt>
    <dd>{now.max} at once</dd>
    <dt>Each lasts at most</dt>
    <dd>{now.longest}</dd>
  </dl>
)

/** Says what previews are allowed now. */
const note = (path: ProjectPath, before: Allowed | null, now: Allowed | null, done: () => void): void => {
  const what =
    now === null
      ? "No previews are allowed any more."
      : `Previews are allowed: copies of ${now.from} named ${now.pattern}.`
  const set = ({ from, longest, max, pattern }: Allowed) =>
    Either.map(decodeForm(Terms, { from, longest, max, pattern }), (payload) =>
      call("previews", (api) => api.set({ path, payload }))
    )
  const undo = before === null ? Either.right(call("previews", (api) => api.remove({ path }))) : set(before)
  noteDone(what, Either.isRight(undo) ? { effect: undo.right, done } : null)
}

const Form = ({ path, reload, settings: { environments, previews } }: PreviewsProps) => {
  const act = useAct()
  const names = environments.filter((one) => !ends(one)).map(({ name }) => name)
  const usual = names.find((name) => name === "preview") ?? names.find((name) => name.startsWith("stag")) ?? names[0]
  const from = useSignal<string>(previews?.from ?? usual ?? "")
  const pattern = useSignal(previews?.pattern ?? "pr-*")
  const max = useSignal(String(previews?.max ?? previewDefaults.max))
  const longest = useSignal(previews?.longest ?? previewDefaults.longest)
  const terms = decodeForm(
    Terms,
    {
      from: from.value,
      pattern: pattern.value.trim(),
      max: Number(max.value),
      longest: longest.value.trim()
    },
    labels
  )
  const save = () => {
    if (Either.isLeft(terms)) return
    const payload = terms.right
    act.run(
      call("previews", (api) => api.set({ path, payload })),
      (now) => {
        reload()
        note(path, previews, now, reload)
      }
    )
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        save()
      }}
    >
      <div class="fields">
        <Choose label="Copies of" value={from.value} words={names} choose={(word) => (from.value = word)} />
        <TextField label="Named" text={pattern} maxLength={200} hint="a pattern, such as pr-*" />
        <TextField label="At most, at once" text={max} maxLength={2} hint="1 to 50" />
        <TextField label="Each lasts at most" text={longest} maxLength={7} hint="such as 12h or 30d" />
      </div>
      {Either.isLeft(terms) && (
        <p class="hint bad" role="status">
          {terms.left}
        </p>
      )}
      <Problem failure={act.failure.value} />
      <p class="row">
        <button class="primary" disabled={act.isBusy.value || Either.isLeft(terms)}>
          {previews === null ? "Allow previews" : "Save previews"}
        </button>
        {previews !== null && (
          <ConfirmButton
            label="Allow none"
            title="Allow no previews"
            verb="Allow none"
            isDisabled={act.isBusy.value}
            effect={call("previews", (api) => api.remove({ path }))}
            done={() => {
              reload()
              note(path, previews, null, reload)
            }}
          >
            <p>Only admins create environments of {path.project_name} then. Previews that exist stay until they end.</p>
          </ConfirmButton>
        )}
      </p>
    </form>
  )
}

/** Which environments those who write in the project may create themselves: copies of one environment that end. */
export const Previews = (props: PreviewsProps) => {
  const { previews } = props.settings
  const why = missingInOrg(props.path.org_name, "previews.set")
  return (
    <>
      <p>
        {previews === null ? "Previews are off: only admins create environments." : "Allowed."} A preview is a copy of
        an environment that ends. Whoever may write in an environment of such a name may create it, extend it and remove
        it.
        {previews !== null && (
          <span class="quiet">
            {" "}
            Set by {previews.updated_by} <When time={previews.updated_at} />.
          </span>
        )}
      </p>
      {why === null ? (
        <Form key={previews?.updated_at ?? ""} {...props} />
      ) : (
        <>
          {previews !== null && <Facts now={previews} />}
          <p class="quiet">To change that, one {why}.</p>
        </>
      )}
    </>
  )
}
