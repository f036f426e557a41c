/**
 * The fields of the contract that a program does not show, or does not send, each under the reason. A star at the end stands for all
 * fields of a record, or of a file: only where the program has nothing of it, so that a new field would be no different.
 */
export type Reasons = Readonly<Record<string, ReadonlyArray<string>>>

const page = "says how a page was cut: the program asks for what follows"

/** Fields of responses that the command line neither reads nor prints as JSON. */
export const notInClient: Reasons = {
  "a program asks for consent by a browser, and the console's page shows and answers it": ["directory/Consent: *"],
  [page]: [
    "base/Pagination: pagination.has_next",
    "base/Pagination: pagination.limit",
    "requests/ApprovalRequest: RequestPage.pagination.has_next",
    "requests/ApprovalRequest: RequestPage.pagination.limit",
    "secrets/Due: DuePage.pagination.has_next",
    "secrets/Due: DuePage.pagination.limit",
    "secrets/FoundKey: FoundKeyPage.pagination.has_next",
    "secrets/FoundKey: FoundKeyPage.pagination.limit"
  ],
  "travels in archives, which the command line writes as they come": [
    "secrets/DeclaredKey: newDeclaration.required_in",
    "access/Previews: previewTerms.from",
    "access/Previews: previewTerms.pattern",
    "access/Protection: protectionTerms.approvers",
    "access/Protection: protectionTerms.passkey",
    "access/Protection: protectionTerms.self",
    "archive/ArchivedOrganization: *",
    "archive/ArchivedSecret: *",
    "server/Webhook: newWebhook.events",
    "server/Webhook: newWebhook.format"
  ],
  "is of an import, which ends with the command": ["archive/Import: OrganizationImport.created_at"],
  "is for a browser, which proves a passkey": ["directory/Passkey: *"],
  "is for the login page of a browser": [
    "directory/LoginMethods: LoginMethods.email",
    "directory/LoginMethods: LoginMethods.provider",
    "directory/LoginMethods: Provider.issuer",
    "directory/LoginMethods: Provider.name",
    "directory/ProviderLogout: ProviderLogout.provider_logout_url"
  ],
  "is read without the schema, by client/internal": [
    "api/AuthApi: federate.expires_at",
    "api/AuthApi: federate.token",
    "secrets/Secret: SecretRead.key",
    "secrets/Secret: SecretRead.kind",
    "secrets/Secret: SecretRead.value",
    "secrets/Secret: SecretRead.version"
  ],
  "is of the matrix, of which the command line prints keys, versions and times": [
    "secrets/CompactMatrix: CompactFacts.kind",
    "secrets/Matrix: MatrixCell.kind",
    "secrets/Matrix: MatrixCell.updated_by",
    "secrets/Matrix: MatrixEnvironment.etag",
    "secrets/Matrix: MatrixEnvironment.expires_at",
    "secrets/Matrix: MatrixEnvironment.position",
    "secrets/Matrix: MatrixEnvironment.protected",
    "secrets/Matrix: MatrixEnvironment.reveals",
    "secrets/Matrix: MatrixEnvironment.revision",
    "secrets/Matrix: MatrixEnvironment.targets"
  ],
  "the command line prints the list of all projects, not a page of it": ["secrets/Overview: Overview.projects"],
  "is in each item of a list of removed places, as the time until which it can be restored": [
    "server/ServerFacts: ServerFacts.trash_days"
  ]
}

/** Fields of bodies that the command line does not send. */
export const notSentByClient: Reasons = {
  "the proxy for an agent's own tools asks for streams": ["secrets/UseRequest: UseRequest.stream"],
  "is for a browser, which proves a passkey": [
    "api/PasskeysApi: *",
    "directory/Passkey: *",
    "api/AuthApi: verify.session"
  ],
  "is for a browser, which a program opens": ["api/ConsentsApi: *"],
  "is sent without the schema, by client/internal": [
    "api/AuthApi: federate.account",
    "api/AuthApi: federate.token",
    "api/SecretsApi: set.expected_version",
    "api/SecretsApi: set.kind",
    "api/SecretsApi: set.value"
  ],
  "coffer group adds and removes members one by one": ["api/GroupsApi: setMembers.emails"],
  "coffer use sends text": ["secrets/UseRequest: UseRequest.body_base64"]
}

const changed = "the audit log has who changed it, and when"
const ids = "pages show names, and address records by them"
const stays = "coffer org export and import move organizations: the console has no page for it"
const machines = "is for service accounts and programs, which no console serves"

/** Fields of responses that the console does not read. */
export const notInConsole: Reasons = {
  "the token of a directory is made and shown by the command line": ["directory/Scim: *"],
  "connections, rotations, roles and leases are made, tried and shown whole by the command line": [
    "secrets/Connection: Connection.ca",
    "secrets/Connection: Connection.orphans",
    "secrets/Connection: ConnectionTest.orphans",
    "secrets/Connection: Orphan.*",
    "secrets/Lease: IssuedLease.*",
    "secrets/Lease: shared.expires_in",
    "secrets/Lease: shared.renewable_for",
    "secrets/Lease: shared.renewable_until",
    "secrets/LeaseRole: LeaseRole.create",
    "secrets/LeaseRole: LeaseRole.revoke",
    "secrets/Rotation: Rotation.created_at",
    "secrets/Rotation: Rotation.created_by",
    "secrets/Rotation: Rotation.length",
    "secrets/Rotation: Rotation.updated_at",
    "server/ServerFacts: ServerFacts.renewal"
  ],
  "the dialog is about this target, and the list behind it shows its state": [
    "secrets/Target: PushResult.target",
    "secrets/Target: TargetCheck.checked_at",
    "secrets/Target: TargetCheck.state",
    "secrets/Target: TargetCheck.target",
    "secrets/Target: TargetPlan.target"
  ],
  "is of callers whose rules are for some keys: the matrix shows their cells, and a promotion names its keys": [
    "secrets/Matrix: MatrixEnvironment.left_out",
    "secrets/Bundle: BundleWritten.left_out"
  ],
  "is of a review, of which the page says that it is recorded": ["access/AccessHolder: AccessReview.*"],
  [page]: [
    "audit/AuditEntry: AuditPage.pagination.has_next",
    "audit/AuditEntry: AuditPage.pagination.limit",
    "base/Pagination: pagination.limit",
    "directory/UserRecord: UserPage.pagination.limit",
    "directory/UserRecord: UserPage.pagination.next_cursor",
    "requests/ApprovalRequest: RequestPage.pagination.has_next",
    "requests/ApprovalRequest: RequestPage.pagination.limit",
    "secrets/FoundKey: FoundKeyPage.pagination.has_next",
    "secrets/FoundKey: FoundKeyPage.pagination.limit",
    "secrets/ProjectRevision: ProjectRevisions.pagination",
    "secrets/Secret: SecretList.pagination",
    "server/Webhook: WebhookDeliveryPage.pagination.limit",
    "server/Webhook: WebhookDeliveryPage.pagination.next_cursor"
  ],
  [changed]: [
    "directory/Delegation: listed.created_at",
    "directory/Environment: Environment.created_at",
    "directory/Environment: Environment.updated_at",
    "directory/Federation: Federation.created_at",
    "directory/Group: Group.updated_at",
    "directory/Organization: Organization.created_at",
    "directory/Organization: Organization.updated_at",
    "directory/Project: Project.created_at",
    "directory/Project: Project.updated_at",
    "directory/UserRecord: CreatedAccount.created_at",
    "directory/UserRecord: fields.created_at",
    "secrets/DeclaredKey: DeclaredKey.updated_at",
    "secrets/DeclaredKey: DeclaredKey.updated_by",
    "secrets/UseRule: UseRule.created_at",
    "secrets/UseRule: UseRule.created_by",
    "secrets/UseRule: UseRule.updated_at",
    "server/Webhook: fields.created_at",
    "server/Webhook: fields.created_by",
    "server/Webhook: fields.updated_at"
  ],
  [ids]: [
    "access/AclRule: AclRule.request_id",
    "audit/AuditEntry: AuditEntry.actor_id",
    "audit/AuditEntry: AuditEntry.id",
    "audit/AuditEntry: AuditEntry.org_id",
    "directory/Project: Project.id",
    "secrets/Revision: Revision.request_id",
    "server/Backup: Restore.id"
  ],
  "is the part of the address before the @, unless the provider says another": [
    "directory/Group: GroupMember.name",
    "directory/Member: Member.name",
    "directory/UserRecord: fields.name"
  ],
  [stays]: [
    "archive/*",
    "access/Previews: previewTerms.*",
    "access/Protection: protectionTerms.*",
    "secrets/DeclaredKey: newDeclaration.required_in",
    "server/Webhook: newWebhook.events",
    "server/Webhook: newWebhook.format",
    "server/Webhook: newWebhook.url"
  ],
  [machines]: [
    "api/AuthApi: SessionToken.token",
    "api/AuthApi: federate.expires_at",
    "api/AuthApi: federate.token",
    "api/SystemApi: Health.status",
    "directory/ClientLogin: DeviceLogin.*",
    "directory/LoginMethods: LoginMethods.public_url",
    "directory/User: ServiceAccountIdentity.*",
    "directory/User: User.delegation",
    "secrets/UseRequest: UseResponse.*",
    "secrets/UseRule: Use.*"
  ],
  "the login page has a text of its own": ["api/AuthApi: login.message", "directory/LoginMethods: Provider.issuer"],
  "is of the server's own log, which coffer audit verify checks": [
    "audit/AuditEntry: AuditVerification.first_invalid_log",
    "audit/AuditEntry: AuditVerification.missing"
  ],
  "the verification beside the list says it": ["audit/AuditEntry: AuditPage.pagination.archived"],
  "the browser reads it": ["directory/Passkey: *"],
  "is read from a response without a type: most logouts have no content": [
    "directory/ProviderLogout: ProviderLogout.provider_logout_url"
  ],
  "lists come in the order that it gives": [
    "access/AccessTable: EnvironmentAccess.position",
    "directory/Project: Project.order",
    "secrets/Matrix: MatrixEnvironment.position"
  ],
  "the page says what an explained rule allows, and names the rule": ["access/AclRule: AclExplanation.via"],
  "the overview names the first secrets that are due, and says that more are": [
    "secrets/Due: DuePage.pagination",
    "secrets/Due: DuePage.pagination.has_next",
    "secrets/Due: DuePage.pagination.limit",
    "secrets/Due: DuePage.pagination.next_cursor"
  ],
  "the ETag stands for it": ["access/Protection: Protection.version"],
  "is in `made` of the summary": ["requests/ApprovalRequest: ApprovalRequest.call"],
  "the list is of waiting requests, and each says when it ends": ["requests/Approval: Approval.created_at"],
  "the matrix has it already": [
    "secrets/Bundle: Bundle.revision",
    "secrets/Bundle: BundledSecret.*",
    "secrets/CompactMatrix: CompactFacts.kind",
    "secrets/Due: DueSecret.updated_at",
    "secrets/Due: DueSecret.version",
    "secrets/Secret: SecretListed.updated_at",
    "secrets/Secret: SecretRead.key",
    "secrets/Secret: SecretRead.kind",
    "secrets/Secret: SecretRead.version",
    "secrets/Secret: SecretWritten.*",
    "secrets/UseRule: UseRule.key"
  ],
  "the export says of a value that it cannot be read, by the message": [
    "secrets/Bundle: BundleError.code",
    "secrets/Bundle: BundleError.key"
  ],
  "the matrix marks missing, extra and wrong values in their cells": ["secrets/DeclaredKey: KeyCheck.*"],
  "the palette finds places: the page that it opens has the rest": [
    "secrets/FoundKey: FoundKey.declared",
    "secrets/FoundKey: FoundKey.kind",
    "secrets/FoundKey: FoundKey.updated_at",
    "secrets/FoundKey: FoundKey.version"
  ],
  "the page says where a value goes, and not in which words": [
    "secrets/Placement: Placements.access_key_id",
    "secrets/Placement: Placements.format",
    "secrets/Placement: Placements.region"
  ],
  "the page reads the versions again, which show it": [
    "secrets/Secret: SecretDestroyed.data",
    "secrets/Secret: SecretDestroyed.erased"
  ],
  "coffer backup has the counts of a drill": [
    "server/Backup: BackupCounts.entries",
    "server/Backup: BackupCounts.environments",
    "server/Backup: BackupCounts.versions",
    "server/Backup: BackupList.server.organizations",
    "server/Backup: Drill.age_seconds",
    "server/Backup: Drill.counts"
  ],
  "each delivery of a webhook has how often it was tried": ["server/Webhook: Failing.tries"],
  "the list of deliveries says when the event was, and how it ended": [
    "server/Webhook: WebhookDelivery.created_at",
    "server/Webhook: WebhookEvent.actor",
    "server/Webhook: WebhookEvent.due_at",
    "server/Webhook: WebhookEvent.id",
    "server/Webhook: WebhookEvent.organization",
    "server/Webhook: WebhookEvent.version"
  ]
}

/** Fields of bodies that the console does not send. */
export const notSentByConsole: Reasons = {
  "leases are made by the command line": ["secrets/Lease: *"],
  [stays]: [
    "api/ExportsApi: *",
    "api/ImportsApi: *",
    "archive/*",
    "secrets/DeclaredKey: storedTexts.description",
    "secrets/DeclaredKey: storedTexts.example",
    "secrets/DeclaredKey: storedTexts.owner",
    "secrets/UseRule: useRuleFields.*"
  ],
  [machines]: [
    "api/AuthApi: device.machine",
    "api/AuthApi: federate.*",
    "api/AuthApi: tokenRequest.*",
    "api/AuthApi: verify.machine",
    "secrets/StoreField: StoreField.*",
    "secrets/UseRequest: UseRequest.*"
  ],
  "the console writes cells by the bundle, without force": [
    "api/EnvironmentsApi: revert.force",
    "api/EnvironmentsApi: writeBundle.force",
    "api/SecretsApi: set.*"
  ],
  "an environment is copied whole": ["api/EnvironmentsApi: create.keys"],
  "the default is right for most: coffer sets another": [
    "api/FederationsApi: create.expires_at",
    "api/FederationsApi: create.max_age",
    "api/FederationsApi: create.ttl",
    "api/WebhooksApi: rotateKey.grace_seconds",
    "server/Webhook: changedWebhook.skip"
  ],
  "the console adds and removes members one by one": ["api/GroupsApi: setMembers.emails"],
  "networks have a dialog of their own, once the account is made": ["api/ServiceAccountsApi: create.allowed_networks"]
}
