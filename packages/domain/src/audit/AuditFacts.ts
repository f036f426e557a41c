import * as Predicate from "effect/Predicate"
import type { AuditEntry } from "./AuditEntry.js"

export const conjoined = (words: ReadonlyArray<string>): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1) ?? ""}`

/** The details of an entry, as words of its sentence. Entries of earlier versions lack some of them. */
export class Facts {
  constructor(private readonly metadata: AuditEntry["metadata"]) {}

  has(name: string): boolean {
    const fact = this.metadata[name]
    return fact !== undefined && fact !== null && fact !== false
  }

  /** A detail, or a substitute if the entry has none. */
  text(name: string, unknown = `an unknown ${name}`): string {
    const fact = this.metadata[name]
    return typeof fact === "string" || typeof fact === "number" ? String(fact) : unknown
  }

  /** Words about a detail; empty without it. */
  with(name: string, words: (text: string) => string): string {
    const fact = this.text(name, "")
    return fact === "" ? "" : words(fact)
  }

  /** The names of a list, or the only one. */
  names(name: string): ReadonlyArray<string> {
    const found = this.metadata[name]
    const list: ReadonlyArray<unknown> = Array.isArray(found) ? found : [found]
    return list.flatMap((item) => {
      const word = Predicate.isRecord(item) ? item["key"] : item
      return typeof word === "string" ? [word] : []
    })
  }

  /** `webshop/prod`, the project alone, or nothing. */
  place(): string {
    return [this.text("project", ""), this.text("env", "")].filter((part) => part !== "").join("/")
  }

  environment(): string {
    return `the environment ${this.text("name")}${this.with("project", (of) => ` in ${of}`)}`
  }

  inPlace(): string {
    const place = this.place()
    return place === "" ? "" : ` in ${place}`
  }

  /** The secret of an entry, with its version and its place. */
  secret(): string {
    return `${this.text("key", "a secret")}${this.with("version", (version) => ` (version ${version})`)}${this.inPlace()}`
  }

  /** The secret, or the secrets, of an entry. */
  secrets(): string {
    const keys = this.names("keys")
    if (keys.length === 0) return this.has("keys") ? `no secret${this.inPlace()}` : this.secret()
    return `${keys.length > 3 ? `${keys.length} secrets` : conjoined(keys)}${this.inPlace()}`
  }

  /** Whose access a rule is about. */
  subject(): string {
    const group = this.text("group", "")
    if (group !== "") return `the group ${group}`
    return this.text("name", this.text("email", this.text("subject_id", "an unknown subject")))
  }

  /** Where a rule holds. */
  covered(): string {
    return `${this.text("project_pattern", "*")}/${this.text("env_pattern", "*")}${this.with("key_pattern", (keys) => ` for the keys ${keys}`)}`
  }

  /** Returns the destination of a request with secrets: method, host and path. */
  target(): string {
    return `${this.text("method", "a request")} ${this.text("host", "an unknown host")}${this.text("path", "")}`
  }
}
