import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { useLoad } from "../../kit/Load.js"
import { Reading } from "../../kit/Reading.js"
import { Table } from "../../kit/Table.js"

const readHealth = Effect.suspend(() => call("system", (api) => api.ready()))

const readSettings = Effect.map(
  Effect.suspend(() => call("server", (api) => api.settings())),
  ({ data }) => data
)

const Health = () => {
  const health = useLoad("health", () => readHealth)
  return (
    <Reading of={health}>
      {() => (
        <p>
          <span class="badge good">healthy</span> The database answers, and the audit log can be written.
        </p>
      )}
    </Reading>
  )
}

/** The server's health and its settings as they are, for superadmins. */
export const Page = () => {
  const settings = useLoad("settings", () => readSettings)
  return (
    <section class="wide-page">
      <h1>Server</h1>
      <Health />
      <h2>Settings</h2>
      <p>They come from environment variables and change with a restart. Of a secret, only whether it is set.</p>
      <Reading of={settings}>
        {(found) => (
          <Table label="Settings" heads={["Setting", "Value", "From"]}>
            {found.map(({ source, value, variable }) => (
              <tr key={variable}>
                <th scope="row">
                  <code>{variable}</code>
                </th>
                <td>{value === null ? <span class="quiet">unset</span> : value}</td>
                <td class="quiet">{source === variable ? "the environment" : source === "unset" ? "" : source}</td>
              </tr>
            ))}
          </Table>
        )}
      </Reading>
    </section>
  )
}
