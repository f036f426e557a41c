import { defined } from "@coffer/domain/base/Defined"
import { type Target, TargetAutomation, type TargetChange, type TargetPlan } from "@coffer/domain/secrets/Target"
import * as Effect from "effect/Effect"
import { momentCell, momentText } from "../../base/Moments.js"
import { CannotDo } from "../../base/Failures.js"
import { asking, atEnv, group, wide, yes } from "../../grammar/Command.js"
import { inPlace, optionalPlace } from "../../grammar/PlaceForm.js"
import { requiredOption } from "../../grammar/Fields.js"
import { flag } from "../../grammar/Specs.js"
import { note, printFields, printJson, printList } from "../../terminal/Print.js"
import { confirm } from "../../terminal/Prompts.js"
import { doneView, listView } from "../../terminal/View.js"
import { createFields, name } from "./TargetOptions.js"

const placeText = ({ place }: Target): string =>
  Object.entries(place)
    .map(([field, text]) => `${field}=${text.includes("\n") ? "…" : text}`)
    .join(" ")

const pushedText = ({ pushed_at, pushed_revision }: Target): string =>
  pushed_at === null ? "never" : `revision ${pushed_revision} at ${momentText(pushed_at)}`

const automaticText = ({ automatic, failures, paused }: Target): string =>
  automatic === "off" || (paused === null && failures === 0)
    ? automatic
    : paused !== null
      ? `${automatic}, stopped`
      : `${automatic}, failed ${failures === 1 ? "once" : `${failures} times`}`

const columns = {
  name: (target: Target) => target.name,
  kind: ({ kind }: Target) => kind,
  place: placeText,
  automatic: automaticText,
  state: ({ state }: Target) => state ?? "",
  owned: ({ owned }: Target) => owned,
  pushed: pushedText
}

const list = atEnv("list", {
  description: "List the places on other platforms that secrets are pushed to",
  examples: ["coffer target list webshop/prod"],
  options: { place: optionalPlace, wide },
  place: inPlace,
  run: ({ call, path }) =>
    Effect.map(
      call("targets", (api) => api.list({ path })),
      (targets) =>
        listView(
          targets,
          columns,
          "the environment has no target; add one with: coffer target create NAME --kind KIND",
          ["name", "kind", "automatic", "state", "pushed", "place"]
        )
    )
})

const create = atEnv("create", {
  description: "Add a place on another platform: whoever reads it there reads what is pushed",
  examples: [
    "coffer target create bao --kind vault --place url=https://bao.example.com --place mount=secret --place path=webshop/prod --credential VAULT_TOKEN"
  ],
  options: { ...createFields, ...asking },
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      const { automatic, credential: credential_key, keys, kind, name, place, prefix, remove, rename } = options
      const payload = {
        ...{ name, kind, credential_key, place: Object.fromEntries(place) },
        ...defined({ prefix, remove, automatic }),
        ...(keys.length > 0 && { keys }),
        ...(rename.length > 0 && { rename: Object.fromEntries(rename) })
      }
      const made = yield* call("targets", (api) => api.create({ path, payload }))
      return doneView(`target ${name} created; see what a push would change with: coffer push ${name} --plan`, made)
    })
})

const show = atEnv("show", {
  description: "Show a target",
  examples: ["coffer target show bao"],
  options: { name },
  run: ({ call, options, path }) =>
    Effect.map(
      call("targets", (api) => api.get({ path: { ...path, target_name: options.name } })),
      (target) => ({
        json: target,
        text: printFields({
          name: target.name,
          kind: target.kind,
          place: placeText(target),
          credential: target.credential_key,
          prefix: target.prefix ?? "",
          keys: target.keys.join(" "),
          rename: Object.entries(target.rename)
            .map(([key, there]) => `${key}=${there}`)
            .join(" "),
          remove: target.remove,
          pushed: pushedText(target),
          automatic: automaticText(target),
          "pushes as": target.automatic === "off" ? "" : (target.pushes_as ?? "nobody"),
          stopped: target.paused ?? "",
          problem: target.problem ?? "",
          "tries again at": momentCell(target.retry_at) ?? "",
          "written there": target.owned,
          state: target.state ?? "",
          "checked at": momentCell(target.checked_at) ?? "never",
          "created by": target.created_by,
          "created at": momentCell(target.created_at)
        })
      })
    )
})

const check = atEnv("check", {
  description:
    "Ask a target's platform what has become of what was pushed; it fails if somebody changed or removed keys",
  examples: ["coffer target check bao"],
  options: { name },
  run: ({ call, json, options, path }) =>
    Effect.gen(function* () {
      const found = yield* call("targets", (api) => api.check({ path: { ...path, target_name: options.name } }))
      yield* json
        ? printJson(found)
        : found.data.length === 0
          ? note("nothing was pushed there")
          : printList(
              ["name", "key", "state"],
              found.data.map(({ key, name, state }) => [name, key, state])
            )
      if (found.state === "changed there" || found.state === "missing there") {
        return yield* new CannotDo({
          message: `target ${options.name}: keys are ${found.state}; see what a push would change with: coffer push ${options.name} --plan`
        })
      }
    })
})

const edit = atEnv("edit", {
  description: "Let the server push to a target by itself, by your rights, or not any more",
  examples: ["coffer target edit bao --automatic push"],
  options: {
    name,
    automatic: requiredOption("automatic", TargetAutomation, "How the server pushes by itself: off, push or repair"),
    ...asking
  },
  run: ({ call, options, path }) =>
    Effect.map(
      call("targets", (api) =>
        api.update({ path: { ...path, target_name: options.name }, payload: { automatic: options.automatic } })
      ),
      (changed) => doneView(`target ${changed.name}: automatic is ${automaticText(changed)}`, changed)
    )
})

const setPaused = (paused: boolean) =>
  atEnv(paused ? "pause" : "resume", {
    description: paused
      ? "Push nothing to a target by itself until it is resumed"
      : "Let the server push to a target by itself again, by your rights",
    examples: [`coffer target ${paused ? "pause" : "resume"} bao`],
    options: { name, ...asking },
    run: ({ call, options, path }) =>
      Effect.map(
        call("targets", (api) => api.update({ path: { ...path, target_name: options.name }, payload: { paused } })),
        (changed) => doneView(`target ${changed.name} is ${paused ? "paused" : "resumed"}`, changed)
      )
  })

const remove = atEnv("delete", {
  description: "Push nothing more to a target; what is there stays",
  examples: ["coffer target delete bao"],
  options: { name, yes, ...asking },
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      yield* confirm(`Delete the target ${options.name}? What was pushed stays there.`, options.yes)
      yield* call("targets", (api) => api.delete({ path: { ...path, target_name: options.name } }))
      return doneView(`target ${options.name} deleted`)
    })
})

export const targetCommand = group("target", "Places on other platforms that secrets are pushed to", [
  list,
  create,
  show,
  check,
  edit,
  setPaused(true),
  setPaused(false),
  remove
])

const words: Readonly<Record<string, string>> = {
  new: "new",
  changed: "changed",
  same: "same",
  theirs: "theirs, left alone",
  removed: "removed there",
  refused: "refused"
}

const printPlan = ({ data }: TargetPlan) =>
  data.length === 0
    ? note("nothing is here, and nothing there")
    : printList(
        ["name", "key", "change"],
        data.map(({ change, key, name, reason }: TargetChange) => [
          name,
          key ?? "",
          `${words[change] ?? change}${reason === undefined ? "" : `: ${reason}`}`
        ])
      )

const isChange = ({ change }: TargetChange): boolean => change === "new" || change === "changed" || change === "removed"

export const pushCommand = atEnv("push", {
  description: "Push secrets to a target on another platform: show the plan, and make it with --apply",
  examples: ["coffer push bao --plan", "coffer push bao --apply", "coffer push bao --apply --take-over"],
  options: {
    name,
    plan: flag("plan", "Only show what would change there, which is the default"),
    apply: flag("apply", "Push what the plan says"),
    takeOver: flag("take-over", "Overwrite keys of the same names there that Coffer did not write")
  },
  check: ({ apply, plan }) => (apply && plan ? "give either --plan or --apply" : undefined),
  run: ({ call, json, options, path }) =>
    Effect.gen(function* () {
      const target = { ...path, target_name: options.name }
      const taking = options.takeOver ? { take_over: true } : {}
      const plan = yield* call("targets", (api) => api.plan({ path: target, payload: taking }))
      if (!json) yield* printPlan(plan)
      if (!options.apply) return yield* json ? printJson(plan) : note("nothing was pushed; --apply pushes it")
      if (!json && !plan.data.some(isChange)) yield* note("nothing to push: the target is as it should be")
      const payload = { plan: plan.plan, ...taking }
      const done = yield* call("targets", (api) => api.push({ path: target, payload }))
      if (json) return yield* printJson({ ...done, data: plan.data })
      const left = done.left === 0 ? "" : `; ${done.left} are left: push again`
      yield* note(`revision ${done.revision}: ${done.pushed} pushed, ${done.removed} removed there${left}`)
    })
})
