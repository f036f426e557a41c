import { body } from "@coffer/domain/base/Schemas"
import { kindNames, newTarget, removals, automations } from "@coffer/domain/secrets/Target"
import { type PlaceField, placeProblem, targetKinds } from "@coffer/domain/secrets/TargetKinds"
import { useSignal } from "@preact/signals"
import * as Either from "effect/Either"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Choose } from "../../kit/Choose.js"
import { decodeForm, wordsOf } from "../../kit/Decode.js"
import { FormDialog } from "../../kit/FormDialog.js"
import { TextArea } from "../../kit/TextArea.js"
import { TextField } from "../../kit/TextField.js"
import { useTexts } from "../../kit/Texts.js"
import { noteDone } from "../../state/Done.js"
import { type Automation, effects } from "./Automatic.js"
import type { EnvPath } from "./TargetsRead.js"

const NewTargetBody = body(newTarget)

const renamesOf = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    wordsOf(text).map((pair) => {
      const at = pair.indexOf("=")
      return at < 0 ? [pair, ""] : [pair.slice(0, at), pair.slice(at + 1)]
    })
  )

interface NewTargetProps {
  readonly path: EnvPath
  readonly close: () => void
  readonly done: () => void
}

/** Adds a place on another platform. Nothing is pushed before a plan was seen, unless the server shall push by itself. */
export const NewTarget = ({ close, done, path }: NewTargetProps) => {
  const kind = useSignal(kindNames[0])
  const remove = useSignal<(typeof removals)[number]>("never")
  const automatic = useSignal<Automation>("off")
  const { given, textOf, typed } = useTexts()
  const act = useAct()
  const row = targetKinds[kind.value]
  const fields: ReadonlyArray<readonly [string, PlaceField]> = Object.entries(row.place)
  const place = Object.fromEntries(
    fields.flatMap(([name]) => (typed(`place ${name}`) === "" ? [] : [[name, typed(`place ${name}`)]]))
  )
  const decoded = decodeForm(
    NewTargetBody,
    {
      ...{ name: typed("name"), kind: kind.value, place, credential_key: typed("credential") },
      ...{ remove: remove.value, automatic: automatic.value },
      ...{ ...given("prefix"), ...given("keys", wordsOf), ...given("rename", renamesOf) }
    },
    { name: "Name", credential_key: "Key of the credential", prefix: "Prefix", keys: "Keys", rename: "Names there" }
  )
  const made = Either.filterOrLeft(
    decoded,
    () => placeProblem(kind.value, place) === null,
    () => placeProblem(kind.value, place) ?? ""
  )
  const isBegun = typed("name") !== "" && typed("credential") !== "" && Object.keys(place).length > 0
  return (
    <FormDialog
      title="New target"
      verb="Create"
      act={act}
      close={close}
      made={made}
      isBegun={isBegun}
      submit={(payload) => {
        const { name } = payload
        act.run(
          call("targets", (api) => api.create({ path, payload })),
          () => {
            close()
            done()
            noteDone(`The target ${name} was added.`, {
              effect: call("targets", (api) => api.delete({ path: { ...path, target_name: name } })),
              done
            })
          }
        )
      }}
    >
      <p>Whoever can read the platform can read what is pushed there.</p>
      <TextField label="Name" text={textOf("name")} placeholder="ci" maxLength={50} />
      <Choose label="Platform" value={kind.value} words={kindNames} choose={(next) => (kind.value = next)} />
      {fields.map(([name, { about, example, isOptional }]) => {
        const field = {
          label: isOptional === true ? `${name} (optional)` : name,
          text: textOf(`place ${name}`),
          placeholder: example,
          hint: about
        }
        return name === "ca" ? <TextArea key={name} rows={2} {...field} /> : <TextField key={name} {...field} />
      })}
      <TextField
        label="Key of the credential"
        text={textOf("credential")}
        placeholder="CI_TOKEN"
        hint={`a secret of ${path.env_name}, which is never pushed: ${row.credential}`}
      />
      <details>
        <summary>Keys, names and automatic pushes</summary>
        <TextField label="Keys" text={textOf("keys")} placeholder="DB_* STRIPE_KEY" hint="all without it" />
        <TextField label="Prefix" text={textOf("prefix")} placeholder="WEB_" hint="before each name there" />
        <TextField label="Names there" text={textOf("rename")} placeholder="DB_URL=DATABASE_URL" />
        <Choose label="Removal" value={remove.value} words={removals} choose={(next) => (remove.value = next)} />
        <p class="hint">own: a key that left the environment is removed there, if Coffer wrote it.</p>
        <Choose
          label="Automatic"
          value={automatic.value}
          words={automations}
          choose={(next) => (automatic.value = next)}
        />
        <p class="hint">{effects[automatic.value]}</p>
      </details>
    </FormDialog>
  )
}
