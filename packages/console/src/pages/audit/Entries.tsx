import type { AuditEntry } from "@coffer/domain/audit/AuditEntry"
import { escapeInvisible } from "@coffer/domain/base/Invisible"
import { auditDeed } from "@coffer/domain/audit/AuditSentence"
import { Table } from "../../kit/Table.js"
import { When } from "../../kit/When.js"
import { Visible } from "../../kit/Visible.js"

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
      <td class="audit-sentence">
        <strong>
          <Visible text={actor_name} />
        </strong>{" "}
        <Visible text={auditDeed(entry)} />
        <details>
          <summary>
            Entry<span class="hidden"> {seq} as it is recorded</span>
          </summary>
          <pre>{escapeInvisible(JSON.stringify(entry, null, 2), "\n")}</pre>
        </details>
      </td>
      <td>
        <span class={isRefusal(action) ? "badge bad" : "badge"}>{action}</span>
      </td>
      <td class="quiet">{ip_address}</td>
    </tr>
  )
}

/** Entries of a log, newest first. */
export const Entries = ({ entries }: { readonly entries: ReadonlyArray<AuditEntry> }) =>
  entries.length === 0 ? (
    <p class="quiet">No entry fits these filters.</p>
  ) : (
    <Table label="Entries" class="audit-entries" heads={["No.", "When", "What", "Action", "Address"]}>
      {entries.map((entry) => (
        <Row key={entry.seq} entry={entry} />
      ))}
    </Table>
  )
