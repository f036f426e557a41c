/** Whose text a parser reads. */
export type Reads =
  /** A caller's. `thread` is where it is parsed; the others are the most of it that is parsed in one piece. */
  | { readonly of: "caller"; readonly thread: "loop" | "worker"; readonly length: string; readonly depth: string }
  /** Text that the server wrote itself, from what it had parsed before: it is no larger than that. */
  | { readonly of: "server"; readonly what: string }
  /** Of a service that an operator, or a rule of an admin, names. */
  | { readonly of: "service"; readonly length: string }
  /** Of the operator's settings, files and build, at the start or in a program. */
  | { readonly of: "operator" }

const caller = (thread: "loop" | "worker", length: string, depth = "flat"): Reads => ({
  of: "caller",
  thread,
  length,
  depth
})
const own = (what: string): Reads => ({ of: "server", what })
const service = (length: string): Reads => ({ of: "service", length })
const operator: Reads = { of: "operator" }

/** A header: Node refuses a head of more than 16 KiB. */
const header = caller("loop", "16 KiB")
const url = caller("loop", "16 KiB, as the head of a request")

/** Each file of the server that parses text, by its path in `src`, with each of its parsers. */
export const parsers: Readonly<Record<string, Readonly<Record<string, Reads>>>> = {
  "http/Json.ts": {
    JSON: caller("loop", "64 KiB; more in the thread: 16 MiB and 5,000 values", "32"),
    "UTF-8": caller("loop", "64 KiB; more in the thread: 16 MiB")
  },
  "http/ParseJson.ts": { JSON: caller("worker", "above 64 KiB, a line up to 6 MiB and 25,000 values", "32") },
  "http/Browser.ts": { URL: header, list: header },
  "http/Certificate.ts": { PEM: operator },
  "http/ClientAddress.ts": { list: header },
  "http/ETag.ts": { list: header },
  "http/Form.ts": { query: caller("loop", "8 KiB") },
  "http/AcceptEncoding.ts": { list: header },
  "edges/archives/StructureChecks.ts": { JSON: caller("worker", "16 MiB: 64 KiB or a line of 6 MiB at once", "32") },
  "edges/console/Negotiation.ts": { list: header },
  "edges/mcp/SealedQuestions.ts": { JSON: own("a sealed state: it is opened before it is parsed") },
  "edges/pages/Intents.ts": { query: url },
  "edges/pages/LoginFlows.ts": { JSON: own("a sealed cookie: it is opened before it is parsed") },
  "edges/pages/Next.ts": { URL: caller("loop", "a bound of its own, below that of a head") },
  "edges/pages/ProgramPages.ts": { URL: own("the address of a login that was admitted") },
  "edges/pages/Programs.ts": { query: url },
  "edges/webhooks/Deliveries.ts": { JSON: own("an event that was made here") },
  "edges/webhooks/Event.ts": { JSON: own("metadata of an entry") },
  "edges/webhooks/Sender.ts": { JSON: own("an event that was made here") },
  "edges/webhooks/Webhooks.ts": { JSON: own("20 patterns") },
  "audit/EntryReader.ts": { JSON: own("metadata of an entry") },
  "audit/SearchTerms.ts": { JSON: own("metadata of an entry") },
  "audit/StreamPlaces.ts": { JSON: own("the place of a stream") },
  "access/caller/AccountNetworks.ts": { JSON: own("networks of an account") },
  "access/caller/DelegatedPlaces.ts": { list: own("10 environments of a delegation") },
  "http/mcp/McpOrigins.ts": { URL: header },
  "http/mcp/McpErrors.ts": { URL: url },
  "directory/consents/AuthorizationRequest.ts": { query: caller("loop", "4,096 characters") },
  "directory/consents/RedirectUri.ts": {
    URL: caller("loop", "512 characters"),
    query: own("the parameters of an answer")
  },
  "directory/scim/ScimPeople.ts": { JSON: own("attributes, and ids of rules and groups") },
  "edges/scim/ScimFilter.ts": { JSON: caller("loop", "2,000 characters", "20") },
  "edges/scim/ScimPatch.ts": { list: caller("loop", "1,000 operations") },
  "edges/scim/ScimLists.ts": { list: url },
  "directory/consents/AskingPrograms.ts": { URL: caller("loop", "512 characters") },
  "directory/consents/ClientDocuments.ts": {
    JSON: service("5 KiB"),
    URL: caller("loop", "512 characters")
  },
  "directory/consents/Registrations.ts": { JSON: own("a sealed registration: it is opened before it is parsed") },
  "access/caller/Authenticator.ts": { JSON: own("100 keys of a delegation") },
  "access/gate/Protections.ts": { JSON: own("100 addresses") },
  "secrets/archives/ImportedVersions.ts": { reference: caller("loop", "64 KiB a value, 32 references") },
  "secrets/declared/Declared.ts": { RE2: caller("loop", "256 characters, and a bound of states") },
  "secrets/declared/Patterns.ts": { RE2: caller("loop", "256 characters, a bound of states, 2 s a request") },
  "secrets/declared/Repo.ts": { list: own("names of environments") },
  "secrets/references/Fill.ts": { reference: own("a stored reference: 64 KiB") },
  "secrets/references/ReferenceChecks.ts": { reference: caller("loop", "64 KiB a value, 32 references") },
  "secrets/stored/Versions.ts": { reference: own("a stored reference: 64 KiB") },
  "secrets/delivery/PlatformCalls.ts": {
    JSON: caller("worker", "2 MiB and 25,000 values of a platform that people chose", "32")
  },
  "secrets/delivery/kinds/Kubernetes.ts": { YAML: own("a text of JSON that it writes as YAML") },
  "secrets/delivery/kinds/SealedBox.ts": { JWK: service("a public key of 32 bytes") },
  "secrets/delivery/Targets.ts": { JSON: own("the terms of a target") },
  "secrets/connections/HttpProgram.ts": { JSON: caller("worker", "256 KiB of a program that people chose", "32") },
  "secrets/connections/MySqlForms.ts": { list: service("the rights of a login: 4 MiB at most, as all that it sends") },
  "secrets/connections/Postgres.ts": {
    JSON: caller("loop", "names of 32 characters, one of each lease in a database", "any")
  },
  "secrets/leases/LeaseRoles.ts": { JSON: own("the statements of a role") },
  "secrets/rotations/Rotations.ts": { JSON: own("the terms of a rotation") },
  "secrets/use-rules/Terms.ts": { JSON: own("the terms of a use rule") },
  "secrets/use/Approvals.ts": {
    JSON: own("what is shown of a use"),
    URL: caller("loop", "8,000 characters"),
    "UTF-8": caller("loop", "a body of a use, whose bound the call has")
  },
  "secrets/use/Decoders.ts": { RegExp: own("a constant of the source") },
  "secrets/use/Placement.ts": { URL: caller("loop", "8,000 characters"), query: caller("loop", "8,000 characters") },
  "secrets/use/StoredFields.ts": { JSON: caller("worker", "1 MiB and 25,000 values of a service's answer", "32") },
  "secrets/use/UpstreamResponse.ts": { JSON: service("1,024 KiB"), "UTF-8": service("1,024 KiB") },
  "directory/federations/Archive.ts": { JSON: own("keys of federations, 8,000 characters each") },
  "directory/federations/IssuerKeys.ts": { JSON: service("a bound of its own; the rest is cut") },
  "directory/federations/Jwks.ts": {
    JSON: service("the set of an issuer; keys of 8,000 characters; claims of a token that is verified"),
    JWT: caller("loop", "8 KiB, the body of the calls that take a token", "as JSON.parse, which does not recurse"),
    JWK: caller("loop", "20 keys of 8,000 characters, whose moduli have at most 8,192 bits")
  },
  "directory/federations/Repo.ts": { JSON: own("20 conditions") },
  "directory/identities/ProviderClient.ts": { URL: url },
  "directory/passkeys/Passkeys.ts": { JSON: own("the transports of a passkey") },
  "directory/passkeys/RelyingParty.ts": { URL: operator },
  "directory/passkeys/WebAuthn.ts": {
    JSON: caller("loop", "8,192 bytes"),
    WebAuthn: caller("loop", "16,384 bytes", "the length bounds it; what the library throws is a refusal")
  },
  "directory/requests/SealedCalls.ts": { JSON: own("a sealed call: parsed in the thread above 64 KiB") },
  "directory/requests/GatedHandlers.ts": { percent: header, list: header },
  "directory/requests/NamedIds.ts": { JSON: own("the ids of what a call names") },
  "directory/requests/RequestViews.ts": { JSON: own("keys of a request, and texts that the database puts together") },
  "directory/service-accounts/ServiceAccounts.ts": { JSON: own("networks of an account") },
  "keys/ListEnd.ts": { JSON: own("the end of the list of logs") },
  "keys/Shares.ts": { list: operator },
  "operations/audit-archives/ArchiveFile.ts": { JSON: own("the header of an archive, which it writes") },
  "operations/backups/Backups.ts": { JSON: own("the head of a log") },
  "operations/backups/ObjectName.ts": { RegExp: own("a constant of the source") },
  "operations/check/CertificateCheck.ts": { URL: operator },
  "operations/dev/DevFolder.ts": { JSON: operator },
  "operations/dev/SeedFile.ts": { "UTF-8": operator },
  "base/BuiltFiles.ts": { URL: operator },
  "base/config/DatabaseUrl.ts": { query: operator, percent: operator },
  "base/config/SettingFormats.ts": { URL: operator, list: operator },
  "base/config/IdentitySettings.ts": { URL: operator },
  "base/config/KeyCommand.ts": { JSON: operator },
  "base/config/MailSettings.ts": { URL: operator },
  "base/outbound/Outbound.ts": { URL: caller("loop", "8,000 characters of a use, 2,048 of a webhook") },
  "base/tracing/Otlp.ts": { list: operator },
  "database/Migration.ts": { list: own("a constant of the source") }
}

/** The same for each file of the domain that the server loads. */
export const domainParsers: typeof parsers = {
  "archive/Calls.ts": { list: own("what a client is about to send: the server takes the limits alone") },
  "audit/AuditArchive.ts": { JSON: operator },
  "base/JsonPointer.ts": { list: caller("loop", "500 characters") },
  "base/DomainNames.ts": { URL: caller("loop", "254 characters"), list: caller("loop", "254 characters") },
  "base/Invisible.ts": { RegExp: own("a constant of the source") },
  "base/Names.ts": { RegExp: own("a constant of the source") },
  "base/Pattern.ts": { list: caller("loop", "200 characters", "one level of alternatives") },
  "base/PlainUrl.ts": { URL: caller("loop", "8,000 characters of a use, 500 of a webhook") },
  "base/Span.ts": { RegExp: own("a constant of the source") },
  "directory/Claims.ts": { URL: operator },
  "directory/ClientLogin.ts": {
    RegExp: own("a constant of the source"),
    URL: caller("loop", "a bound of its form: 125 characters")
  },
  "directory/Federation.ts": { URL: caller("loop", "300 characters") },
  "directory/Passkey.ts": { RegExp: own("a constant of the source") },
  "formats/Format.ts": { YAML: own("the name of a format: the parser is not loaded") },
  "formats/Json.ts": { JSON: operator },
  "secrets/EnvironmentParameters.ts": { list: url },
  "secrets/Placement.ts": { list: caller("loop", "200 characters") },
  "secrets/ProjectRevision.ts": { list: url },
  "secrets/KeyPatterns.ts": { list: caller("loop", "100 characters") },
  "secrets/TargetKinds.ts": { URL: caller("loop", "500 characters"), list: caller("loop", "500 characters") },
  "secrets/RotationTemplate.ts": { JSON: caller("loop", "4,000 characters of a text, and what is put into it") },
  "secrets/UseRule.ts": {
    RegExp: own("a constant of the source"),
    list: caller("loop", "259 characters of a host, 500 of a path")
  },
  "server/Webhook.ts": { URL: caller("loop", "500 characters"), list: caller("loop", "401 characters") }
}
