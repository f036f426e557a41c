import { type ConnectionKind, defaultPorts, tlsModes } from "@coffer/domain/secrets/Connection"

export interface KindField {
  readonly name: string
  readonly label: string
  readonly example?: string
  readonly hint?: string
  readonly isOptional?: true
  readonly isNumber?: true
  /** The words of a field that has no text. The first one is its default. */
  readonly words?: ReadonlyArray<string>
  /** The lines of a field that has several. */
  readonly rows?: number
}

const database = (kind: ConnectionKind): ReadonlyArray<KindField> => [
  { name: "host", label: "Host", example: "db.internal.example.com" },
  { name: "port", label: "Port (optional)", example: String(defaultPorts[kind]), isOptional: true, isNumber: true },
  { name: "database", label: "Database", example: "shop", hint: "logins are tried in it, too" },
  { name: "user", label: "User", example: "coffer_renewal", hint: "it may create users or change their passwords" },
  { name: "tls", label: "Check of its certificate", words: tlsModes },
  {
    name: "ca",
    label: "Certificates to trust (optional)",
    rows: 2,
    isOptional: true,
    hint: "PEM; without: the system's"
  }
]

/** The fields of the form by the kind of program. */
export const kindFields: Readonly<Record<ConnectionKind, ReadonlyArray<KindField>>> = {
  postgres: database("postgres"),
  mysql: database("mysql"),
  http: database("http")
}
