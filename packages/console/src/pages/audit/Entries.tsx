import type { AuditEntry } from "@coffer/domain/audit/AuditEntry"
import { escapeInvisible } from "@coffer/domain/base/Invisible"
import { auditDeed } from "@coffer/domain/audit/AuditSentence"
import { Bot } from "lucide"
import { Icon } from "../../kit/Icon.js"
import { Disc } from "../../kit/Person.js"
import { Table } from "../../kit/Table.js"
import { exactly } from "../../kit/Exactly.js"
import { Visible } from "../../kit/Visible.js"

const isRefusal = (action: string): boolean =>
  ["access.denied", "auth.verify_failed", "auth.lockout", "audit.break", "secret.decryption_failed"].includes(action)

const Row = ({ entry }: { readonly entry: AuditEntry }) => {
  const { action, actor_name, created_at, ip_address, seq } = entry
  return (
    <tr>
      <td class="quiet">
        <time dateTime={created_at} data-exact={exactly(created_at)}>
          {created_at.slice(11, 19)}
        </time>
      </td>
      <td class="audit-sentence">
        <span class="audit-who">
          {actor_name.includes("@") ? (
            <Disc address={actor_name} />
          ) : (
            <span class="disc machine">
              <Icon of={Bot} />
            </span>
          )}
        </span>
        <strong>
          <Visible text={actor_name} />
        </strong>{" "}
        <Visible text={auditDeed(entry)} />
        <details>
          <summary>
            Entry {seq}
            <span class="hidden"> as it is recorded</span>
          </summary>
          <pre>{escapeInvisible(JSON.stringify(entry, null, 2), "\n")}</pre>
        </details>
      </td>
      <td>
        <span class={isRefusal(action) ? "badge bad" : "badge plain-badge"}>{action}</span>
      </td>
      <td class="quiet">{ip_address}</td>
    </tr>
  )
}

const format = new Intl.DateTimeFormat("en", {
  ...({ weekday: "long", day: "numeric", month: "long", year: "numeric", timeZone: "UTC" } as const)
})

/** Entries of a log, newest first, by day. */
export const Entries = ({ entries }: { readonly entries: ReadonlyArray<AuditEntry> }) =>
  entries.length === 0 ? (
    <p class="quiet">No entry fits these filters.</p>
  ) : (
    <Table label="Entries" class="audit-entries" heads={["Time (UTC)", "Entry", "Action", "Address"]}>
      {entries.flatMap((entry, index) => {
        const day = entry.created_at.slice(0, 10)
        const row = <Row key={entry.seq} entry={entry} />
        if (entries[index - 1]?.created_at.slice(0, 10) === day) return [row]
        return [
          <tr key={day} class="audit-day">
            <th scope="rowgroup" colSpan={4}>
              {format.format(new Date(entry.created_at))}
            </th>
          </tr>,
          row
        ]
      })}
    </Table>
  )
