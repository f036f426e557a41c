import { Checklist } from "../../kit/Checklist.js"
import type { EnvName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { useEffect, useMemo } from "preact/hooks"
import { call } from "../../client/Calls.js"
import { readMatrix } from "../../client/Matrices.js"
import { later } from "../../kit/Later.js"
import { useLoad } from "../../kit/Load.js"
import { Problem } from "../../kit/Problem.js"
import { type Command, useCommands } from "../../kit/Commands.js"
import { envOf } from "../../routing/Places.js"
import { query } from "../../routing/Router.js"
import { SentBar } from "../../staging/SentBar.js"
import { pasted, pasteProblem } from "../../staging/Pasted.js"
import { countOf } from "../../staging/Staged.js"
import type { PageProps, PlaceAt } from "../PageProps.js"
import { chooseShown } from "./Chosen.js"
import { ChosenBar } from "./ChosenBar.js"
import { EmptyMatrix } from "./EmptyMatrix.js"
import { noFilter, type Requirements } from "./Grid.js"
import { KeyPanel } from "./KeyPanel.js"
import { makeModel, type Model, setFilter } from "./Model.js"
import "./Page.css"
import { StagedBar } from "./StagedBar.js"
import { GridTable } from "./GridTable.js"
import { Toolbar } from "./Toolbar.js"

const BulkDialog = later(async () => (await import("./bulk/BulkDialog.js")).BulkDialog)
const ImportDialog = later(async () => (await import("./ImportDialog.js")).ImportDialog)
const NewKeyDialog = later(async () => (await import("./NewKeyDialog.js")).NewKeyDialog)
const RemovedRows = later(async () => (await import("./RemovedRows.js")).RemovedRows)
const ReviewDialog = later(async () => (await import("./ReviewDialog.js")).ReviewDialog)

const refreshMillis = 60_000

const read = ({ org, project }: PlaceAt<"project">) => {
  const path = { org_name: org, project_name: project }
  return Effect.all(
    {
      matrix: readMatrix(org, project),
      declared: Effect.map(
        call("declared", (api) => api.list({ path })),
        ({ data }): Requirements => new Map(data.map(({ key, required_in }) => [key, required_in]))
      )
    },
    { concurrency: "unbounded" }
  )
}

const commandsOf = (model: Model): ReadonlyArray<Command> => [
  ...[...model.staging.staged.peek()].flatMap(([env, { changes }]) =>
    [...changes.keys()].map((key) => ({
      kind: "Keys" as const,
      title: key,
      hint: `staged in ${env}`,
      run: () => {
        setFilter(model, { ...noFilter, text: key })
      }
    }))
  ),
  {
    kind: "Actions",
    title: "New key",
    hint: "",
    run: () => {
      model.setOpen({ type: "new", key: "" })
    }
  },
  {
    kind: "Actions",
    title: "Import a .env, JSON or YAML file",
    hint: "",
    run: () => {
      model.setOpen({ type: "import", env: null, text: "", file: "" })
    }
  },
  {
    kind: "Actions",
    title: "Choose all keys that are shown",
    hint: "",
    run: () => {
      chooseShown(model)
    }
  },
  {
    kind: "Actions",
    title: "Export secrets to a file",
    hint: "",
    run: () => {
      model.setOpen({ type: "bulk", act: "exportAll" })
    }
  },
  {
    kind: "Actions",
    title: "Review and write what is staged",
    hint: "",
    run: () => {
      if (countOf(model.staging.staged.peek()) > 0) model.setOpen({ type: "review" })
    }
  }
]

/** Opens the import for what was pasted or dropped on the project. */
const usePastedHere = (model: Model, isReady: boolean) => {
  const found = pasted.value
  useEffect(() => {
    if (found === null || !isReady) return
    pasted.value = null
    const columns = model.grid.peek().columns.filter(({ canWrite }) => canWrite)
    if (columns.length === 0) {
      pasteProblem.value =
        "Nothing was taken: to write here, one needs a rule with the permission write, and the role developer."
      return
    }
    const marked = envOf(query.peek())
    const env = columns.find(({ name }) => name === marked)?.name ?? null
    model.setOpen({ type: "import", env, text: found.text, file: found.file })
  }, [found, isReady])
}

const Dialogs = ({ model, reload }: { readonly model: Model; readonly reload: () => void }) => {
  const open = model.open.value
  const close = () => {
    model.setOpen(null)
  }
  switch (open?.type) {
    case "new":
      return <NewKeyDialog model={model} first={open.key} close={close} />
    case "import":
      return <ImportDialog key={`${open.file} ${open.text}`} model={model} {...open} reload={reload} close={close} />
    case "review":
      return <ReviewDialog model={model} reload={reload} close={close} />
    case "bulk":
      return <BulkDialog model={model} act={open.act} reload={reload} close={close} />
    case "cell":
    case undefined:
      return null
  }
}

/** Names the environments for which the matrix has no column. */
const Others = ({ names }: { readonly names: ReadonlyArray<EnvName> }) =>
  names.length === 0 ? null : (
    <p class="matrix-others quiet" role="note">
      {names.length.toLocaleString("en")} more {names.length === 1 ? "environment is" : "environments are"} not in this
      matrix: {names.join(", ")}
    </p>
  )

/** The matrix of a project: keys by environments. No value is read to draw it. */
export const Page = ({ place }: PageProps<"project">) => {
  const name = `${place.org}/${place.project}`
  const model = useMemo(() => makeModel(place), [name])
  const { loaded, reload } = useLoad(name, () => read(place))
  const { failure, value } = loaded.value

  useEffect(() => {
    if (value !== null) model.declared.value = value.declared
    model.matrix.value = value?.matrix ?? null
  }, [value])

  useEffect(() => {
    const refresh = () => {
      if (!document.hidden) reload()
    }
    const timer = setInterval(refresh, refreshMillis)
    document.addEventListener("visibilitychange", refresh)
    return () => {
      clearInterval(timer)
      document.removeEventListener("visibilitychange", refresh)
    }
  }, [name])

  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof Element && event.target.closest("input,textarea,dialog") !== null
      if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey) return
      event.preventDefault()
      document.getElementById("matrix-filter")?.focus()
    }
    document.addEventListener("keydown", press)
    return () => {
      document.removeEventListener("keydown", press)
    }
  }, [])

  const canWrite = model.grid.value.columns.some((column) => column.canWrite)
  useCommands(canWrite ? commandsOf(model) : [], model, canWrite, model.staging.staged.value)

  usePastedHere(model, model.matrix.value !== null)

  const isRemoved = model.filter.value.only === "removed"
  const isEmpty = model.matrix.value !== null && model.grid.value.rows.length === 0 && !isRemoved
  return (
    <section class="matrix">
      <h1 class="hidden">Secrets of {place.project}</h1>
      <Problem failure={failure} retry={reload} />
      {model.matrix.value === null ? (
        failure === null && <p class="loading">Loading…</p>
      ) : isEmpty ? (
        <EmptyMatrix model={model} />
      ) : (
        <>
          <Checklist org={place.org} project={place.project} env={model.grid.value.columns[0]?.name} />
          <Toolbar model={model} />
          <Others names={model.matrix.value.others} />
          {isRemoved ? (
            <RemovedRows model={model} reload={reload} />
          ) : (
            <>
              <div class="matrix-main">
                <div>
                  <GridTable model={model} />
                </div>
                <KeyPanel model={model} reload={reload} />
              </div>
              <ChosenBar model={model} />
            </>
          )}
        </>
      )}
      <SentBar place={place} sent={model.sent} reload={reload} />
      <StagedBar model={model} />
      <Dialogs model={model} reload={reload} />
    </section>
  )
}
