import type { AuditEntry } from "@coffer/domain/AuditEntry"
import { When } from "../../kit/When.js"
import { detailsOf, placeOf } from "./Filters.js"
import { Table } from "../../kit/Table.js"

const isRefusal = (action: string): boolean =>
  ["access.denied", "auth.verify_failed", "auth.lockout", "audit.break", "secret.decryption_failed"].includes(action)

const Row = ({ entry }: { readonly entry: AuditEntry }) => {
  const { action, actor_name, created_at, ip_address, seq } = entry
  return (
    <tr>
      <td class="quiet audit-number">{seq}</td>
      <td>
        <When time={created_at} />
      </td>
      <td>{actor_name}</td>
      <td>
        <span class={isRefusal(action) ? "badge bad" : "badge"}>{action}</span>
      </td>
      <td>
        <code>{placeOf(entry)}</code>
      </td>
      <td class="quiet audit-details">
        {detailsOf(entry)}
        {ip_address !== null && ` · ${ip_address}`}
      </td>
    </tr>
  )
}

/** Entries of a log, newest first. */
export const Entries = ({ entries }: { readonly entries: ReadonlyArray<AuditEntry> }) =>
  entries.length === 0 ? (
    <p class="quiet">No entry fits these filters.</p>
  ) : (
    <Table label="Entries" class="audit-entries" heads={["No.", "When", "Who", "Did", "Where", "Details"]}>
      {entries.map((entry) => (
        <Row key={entry.seq} entry={entry} />
      ))}
    </Table>
  )
