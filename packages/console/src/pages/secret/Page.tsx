import type { SecretPath } from "@coffer/domain/api/Paths"
import type { EnvName } from "@coffer/domain/base/Names"
import { useEffect, useMemo } from "preact/hooks"
import { readMatrix } from "../../client/Matrices.js"
import { AskAccess } from "../../kit/AskAccess.js"
import { Shield } from "../../kit/Shield.js"
import { later } from "../../kit/Later.js"
import { useLoad } from "../../kit/Load.js"
import { Problem } from "../../kit/Problem.js"
import { Link } from "../../routing/Link.js"
import { envOf, projectAddress, secretAddress } from "../../routing/Places.js"
import { query } from "../../routing/Router.js"
import { SentBar } from "../../staging/SentBar.js"
import { hasUses } from "../../state/Server.js"
import type { Column } from "../matrix/Grid.js"
import { makeModel, type Model, spotAt, storedIn } from "../matrix/Model.js"
import "../matrix/Page.css"
import { StagedBar } from "../matrix/StagedBar.js"
import type { PageProps, PlaceAt } from "../PageProps.js"
import { Absent } from "./Absent.js"
import { CopyTo } from "./CopyTo.js"
import { Declared } from "./Declared.js"
import { Due } from "./Due.js"
import "./Page.css"
import { References } from "./References.js"
import { Value } from "./Value.js"
import { Versions } from "./Versions.js"

const ReviewDialog = later(async () => (await import("../matrix/ReviewDialog.js")).ReviewDialog)
const UseRules = later(async () => (await import("./UseRules.js")).UseRules)

interface SecretProps {
  readonly place: PlaceAt<"secret">
  readonly model: Model
  readonly reload: () => void
}

interface InEnvProps extends SecretProps {
  readonly column: Column
  readonly isStoredElsewhere: boolean
}

/** The secret in one environment: its value first, then where it comes from, and what it was. */
export const InEnvironment = ({ column, isStoredElsewhere, model, place, reload }: InEnvProps) => {
  const spot = spotAt(model, { key: place.key, env: column.name })
  if (spot === null) return null
  const cell = storedIn(spot)
  const path: SecretPath = {
    org_name: place.org,
    project_name: place.project,
    env_name: column.name,
    key: place.key
  }
  const others = model.grid.value.columns.filter(({ name }) => name !== column.name)
  return (
    <>
      {cell === null ? (
        <Absent
          model={model}
          path={path}
          readable={model.grid.value.columns.filter(({ canRead }) => canRead).map(({ name }) => name)}
          isStoredElsewhere={isStoredElsewhere}
          canWrite={column.canWrite}
          changed={reload}
        >
          <Value model={model} spot={spot} />
        </Absent>
      ) : (
        <>
          <Value model={model} spot={spot} />
          <References path={path} cell={cell} />
          <Versions path={path} env={column} cell={cell} changed={reload} />
          <CopyTo path={path} targets={others.filter(({ canWrite }) => canWrite)} />
          <Due path={path} env={column} cell={cell} changed={reload} />
        </>
      )}
      <Declared path={path} />
      {cell !== null && hasUses() && <UseRules path={path} env={column} />}
    </>
  )
}

/** The environments, with the version in each. */
const Environments = ({ current, model, place }: Omit<SecretProps, "reload"> & { readonly current: EnvName }) => {
  const { columns, rows } = model.grid.value
  const row = rows.find(({ key }) => key === place.key)
  return (
    <nav class="secret-envs" aria-label="Environments">
      {columns.map(({ canRead, name, protected: isProtected = false }, index) => {
        const stored = row?.cells[index]?.stored ?? null
        return canRead ? (
          <Link
            key={name}
            to={secretAddress(place.org, place.project, name, place.key)}
            class="button"
            isCurrent={name === current}
          >
            {name} {isProtected && <Shield />}{" "}
            <span class="quiet">{stored === null ? "missing" : `v${String(stored.version)}`}</span>
          </Link>
        ) : (
          <span key={name} class="button secret-off" title="not readable for you">
            {name}
          </span>
        )
      })}
    </nav>
  )
}

const Secret = ({ model, place, reload }: SecretProps) => {
  const { columns, rows } = model.grid.value
  const cells = rows.find(({ key }) => key === place.key)?.cells ?? []
  const isStored = (column: Column) => (cells[columns.indexOf(column)]?.stored ?? null) !== null
  const readable = columns.filter(({ canRead }) => canRead)
  const wanted = envOf(query.value)
  const current = readable.find(({ name }) => name === wanted) ?? readable.find(isStored) ?? readable[0]
  if (current === undefined) {
    return (
      <>
        <p>You may not read any environment of this project.</p>
        <AskAccess org={place.org} project={place.project} envs={columns.map(({ name }) => name)} permission="read" />
      </>
    )
  }
  return (
    <>
      <Environments model={model} place={place} current={current.name} />
      <InEnvironment
        key={current.name}
        model={model}
        place={place}
        reload={reload}
        column={current}
        isStoredElsewhere={columns.some(isStored)}
      />
    </>
  )
}

/** A secret: its value and its versions in one environment, and what can be done with them. */
export const Page = ({ place }: PageProps<"secret">) => {
  const { key, org, project } = place
  const name = `${org}/${project}`
  const model = useMemo(() => makeModel({ at: "project", page: "", org, project }), [name])
  const { loaded, reload } = useLoad(`${name}/${key}`, () => readMatrix(org, project))
  const { failure, value } = loaded.value
  useEffect(() => {
    model.matrix.value = value
  }, [value])
  return (
    <section class="narrow secret">
      <p>
        <Link to={projectAddress(org, project)}>← Matrix</Link>
      </p>
      <h1 class="key">{key}</h1>
      <Problem failure={failure} retry={reload} />
      {model.matrix.value === null ? (
        failure === null && (
          <p class="loading" role="status">
            Loading…
          </p>
        )
      ) : (
        <Secret key={key} model={model} place={place} reload={reload} />
      )}
      <div class="secret-bars">
        <SentBar place={place} sent={model.sent} reload={reload} />
        <StagedBar model={model} />
      </div>
      {model.open.value?.type === "review" && (
        <ReviewDialog model={model} reload={reload} close={() => model.setOpen(null)} />
      )}
    </section>
  )
}
