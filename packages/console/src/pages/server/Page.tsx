import type { Backup } from "@coffer/domain/server/Backup"
import type { ServerSetting, ServerUsage } from "@coffer/domain/server/ServerFacts"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { PageHead } from "../../kit/ListPage.js"
import { useLoad } from "../../kit/Load.js"
import { Reading } from "../../kit/Reading.js"
import { searched, SearchBox } from "../../kit/SearchBox.js"
import { Table } from "../../kit/Table.js"
import { When } from "../../kit/When.js"
import { hasWords } from "../../kit/Words.js"
import { Link } from "../../routing/Link.js"
import { serverAddress } from "../../routing/Places.js"
import { facts } from "../../state/Server.js"
import { serverVersion } from "../../state/ServerVersion.js"
import { sizeOf } from "../backups/BackupSize.js"

const readHealth = Effect.suspend(() => call("system", (api) => api.ready()))

const readSettings = Effect.suspend(() => call("server", (api) => api.settings()))

const readLastBackup = Effect.suspend((): Effect.Effect<Backup | null> =>
  facts.value?.backups === true
    ? Effect.orElseSucceed(
        Effect.map(
          call("backups", (api) => api.list()),
          ({ data }) => data[0] ?? null
        ),
        () => null
      )
    : Effect.succeed(null)
)

const LastBackup = () => {
  const backup = useLoad("backup", () => readLastBackup).loaded.value.value
  if (facts.value?.backups !== true) return <span class="badge warn">none is taken</span>
  return (
    <>
      {backup === null ? (
        "none yet"
      ) : (
        <>
          <When time={backup.created_at} />, {sizeOf(backup.size_bytes)}
        </>
      )}{" "}
      <Link to={serverAddress("backups")}>Backups</Link>
    </>
  )
}

const count = (number: number, one: string, many = `${one}s`): string =>
  `${number.toLocaleString("en")} ${number === 1 ? one : many}`

/** How much is on the server. */
const Usage = ({ of }: { readonly of: ServerUsage }) => (
  <>
    <dt>Database</dt>
    <dd>
      {sizeOf(of.database_bytes)}, {count(of.organizations, "organization")}
    </dd>
    <dt>People</dt>
    <dd>
      {of.people.toLocaleString("en")}, of whom {count(of.superadmins, "is a superadmin", "are superadmins")}
      {of.disabled > 0 && `; ${of.disabled.toLocaleString("en")} more disabled`}{" "}
      <Link to={serverAddress("users")}>People</Link>
    </dd>
  </>
)

const Health = ({ usage }: { readonly usage: ServerUsage | undefined }) => {
  const health = useLoad("health", () => readHealth)
  const version = useLoad("version", () => Effect.promise(serverVersion))
  return (
    <Reading of={health}>
      {() => (
        <dl class="facts">
          <dt>Health</dt>
          <dd>
            <span class="badge good">healthy</span> The database answers, and the audit log can be written.
          </dd>
          <dt>Version</dt>
          <dd>{version.loaded.value.value}</dd>
          <dt>Last backup</dt>
          <dd>
            <LastBackup />
          </dd>
          {usage !== undefined && <Usage of={usage} />}
        </dl>
      )}
    </Reading>
  )
}

const isSet = ({ source }: ServerSetting): boolean => source !== "default" && source !== "unset"

/** The settings of each group, in the order of the documentation: those that the operator has set come first. */
const groupsOf = (settings: ReadonlyArray<ServerSetting>): ReadonlyMap<string, ReadonlyArray<ServerSetting>> => {
  const groups = Object.entries(Array.groupBy(settings, ({ group }) => group ?? "Other"))
  return new Map(
    groups.map(([group, found]) => [group, [...found].sort((one, other) => Number(isSet(other)) - Number(isSet(one)))])
  )
}

const Settings = ({ found }: { readonly found: ReadonlyArray<ServerSetting> }) => {
  const words = searched()
  const fitting = found.filter(({ value, variable }) => hasWords(`${variable} ${value ?? ""}`, words))
  return (
    <>
      <div class="list-tools">
        <SearchBox what="settings" />
      </div>
      {[...groupsOf(fitting)].map(([group, settings]) => (
        <section key={group}>
          <h3>{group}</h3>
          <Table label={group} class="settings" heads={["Setting", "Value", "From"]}>
            {settings.map(({ source, value, variable }) => (
              <tr key={variable} class={source === "default" || source === "unset" ? "quiet" : undefined}>
                <th scope="row">
                  <code>{variable}</code>
                </th>
                <td>{value === null ? <span class="quiet">unset</span> : value}</td>
                <td class="quiet">{source === variable ? "the environment" : source === "unset" ? "" : source}</td>
              </tr>
            ))}
          </Table>
        </section>
      ))}
    </>
  )
}

/** The server's health and its settings as they are, for superadmins. */
export const Page = () => {
  const settings = useLoad("settings", () => readSettings)
  return (
    <section class="wide-page">
      <PageHead title="Server" />
      <Health usage={settings.loaded.value.value?.usage} />
      <h2>Settings</h2>
      <p>They come from environment variables and change with a restart. Of a secret, only whether it is set.</p>
      <Reading of={settings}>{({ data }) => <Settings found={data} />}</Reading>
    </section>
  )
}
