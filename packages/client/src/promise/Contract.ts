/** The calls of the HTTP API, as JSON has their requests and responses. Written by scripts/calls.mjs from the contract: change that, then run npm run generate. */

/** The errors that any call may meet. */
export type CommonTag =
  | "DatabaseUnavailable"
  | "InternalError"
  | "MethodNotAllowed"
  | "NotFound"
  | "OutcomeUnknown"
  | "Overloaded"
  | "PayloadTooLarge"
  | "StorageFull"
  | "UnsupportedMediaType"
  | "ValidationError"

/** The errors of a caller who may not do this. */
type Denied = "Forbidden" | "Unauthorized"

/** The errors of a change that may need votes. */
type Voted = "ApprovalRequired" | "ChangeRequested"

/** All errors of the contract. */
export type ApiTag =
  | "ApprovalNeeded"
  | "ApprovalRequired"
  | "AuthorizationPending"
  | "BackupFailed"
  | "BackupsDisabled"
  | "BrokerDisabled"
  | "ChangeRequested"
  | "Conflict"
  | "DatabaseUnavailable"
  | "DecryptionFailed"
  | "Forbidden"
  | "InternalError"
  | "InvalidCode"
  | "IssuerUnavailable"
  | "LastOwner"
  | "LimitExceeded"
  | "LockedOut"
  | "MethodNotAllowed"
  | "NotFound"
  | "NotReady"
  | "OutcomeUnknown"
  | "Overloaded"
  | "PatternBroken"
  | "PayloadTooLarge"
  | "RateLimited"
  | "Reauthenticate"
  | "ReferenceRefused"
  | "SlowDown"
  | "StorageFull"
  | "Unauthorized"
  | "UnsupportedMediaType"
  | "UpstreamFailed"
  | "UseBudget"
  | "UseRefused"
  | "UseWidens"
  | "ValidationError"

/** The names of a path. */
type Path<Name extends string> = Readonly<Record<Name, string>>

type List<Item> = Readonly<{ data: ReadonlyArray<Item> }>

type Page<Item> = List<Item> &
  Readonly<{ pagination: Readonly<{ limit: number; has_next: boolean; next_cursor: string | null }> }>

/** A call: its one request, or none, its response, and its errors besides the common ones. */
interface Endpoint<Request extends ReadonlyArray<unknown>, Response, Failure = never> {
  readonly request: Request
  readonly response: Response
  readonly error: Failure
}

export interface Contract {
  readonly acl: {
    /** Grant a permission by pattern. */
    readonly grant: Endpoint<
      [
        request: {
          path: Path<"org_name">
          payload:
            | Readonly<{
                subject_type: "user"
                email: Email
                project_pattern: Pattern
                env_pattern: Pattern
                permission: Permission
                key_pattern?: string
                denies?: boolean
                expires_at?: string
              }>
            | Readonly<{
                subject_type: "service_account"
                subject_id: string
                project_pattern: Pattern
                env_pattern: Pattern
                permission: Permission
                key_pattern?: string
                denies?: boolean
                expires_at?: string
              }>
            | Readonly<{
                subject_type: "group"
                group: string
                project_pattern: Pattern
                env_pattern: Pattern
                permission: Permission
                key_pattern?: string
                denies?: boolean
                expires_at?: string
              }>
        }
      ],
      AclRule,
      Denied | "LimitExceeded" | "Reauthenticate"
    >
    /** List access rules. */
    readonly list: Endpoint<[request: { path: Path<"org_name"> }], List<AclRule>, Denied>
    /** Show what a subject may do in an environment, and why. */
    readonly explain: Endpoint<
      [
        request: {
          path: Path<"org_name">
          urlParams: Readonly<{
            subject_type: SubjectType
            email?: Email
            subject_id?: string
            project: string
            env: string
            key?: string
          }>
        }
      ],
      AclExplanation,
      Denied
    >
    /** Show what a subject may do in each environment, and why. */
    readonly access: Endpoint<
      [request: { path: Path<"org_name">; urlParams?: Readonly<{ subject?: string; limit?: number; after?: string }> }],
      AccessPage,
      Denied
    >
    /** Show who has a permission in an environment, why, and when they last used it. */
    readonly who: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "env_name">
          urlParams?: Readonly<{ permission?: Permission; key?: string; limit?: number; after?: string }>
        }
      ],
      HolderPage,
      Denied
    >
    /** Record that you reviewed who has a permission in an environment. */
    readonly review: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "env_name">
          payload: Readonly<{ permission?: Permission; note?: string }>
        }
      ],
      AccessReview,
      Denied
    >
    /** Revoke an access rule. */
    readonly revoke: Endpoint<[request: { path: Path<"org_name" | "rule_id"> }], void, Denied>
  }
  readonly approvals: {
    /** List requests with secrets that wait for a person. */
    readonly list: Endpoint<[request: { path: Path<"org_name"> }], List<Approval>, Denied>
    /** Approve a request with a secret. */
    readonly approve: Endpoint<
      [request: { path: Path<"org_name" | "approval_id"> }],
      Approval,
      Denied | "Conflict" | "Reauthenticate"
    >
    /** Refuse a request with a secret. */
    readonly refuse: Endpoint<[request: { path: Path<"org_name" | "approval_id"> }], Approval, Denied | "Conflict">
  }
  readonly audit: {
    /** Read an organization's audit log, newest first. */
    readonly list: Endpoint<
      [
        request: {
          path: Path<"org_name">
          urlParams?: Readonly<{
            action?: string
            actor?: string
            actor_id?: string
            resource_type?: string
            project?: string
            env?: string
            key?: string
            since?: string
            until?: string
            limit?: number
            after?: string
          }>
        }
      ],
      AuditPage,
      Denied
    >
    /** Check that no entry of an organization's log was changed, removed or inserted. */
    readonly verify: Endpoint<
      [request: { path: Path<"org_name">; urlParams?: Readonly<{ from_seq?: number; seq?: number; chain?: string }> }],
      AuditVerification,
      Denied
    >
    /** Count an organization's entries over time, by action and by actor. */
    readonly activity: Endpoint<
      [
        request: {
          path: Path<"org_name">
          urlParams?: Readonly<{
            action?: string
            actor?: string
            actor_id?: string
            resource_type?: string
            project?: string
            env?: string
            key?: string
            since?: string
            until?: string
            spans?: number
          }>
        }
      ],
      AuditActivity,
      Denied
    >
    /** Read all audit logs, including those of removed organizations. */
    readonly listAll: Endpoint<
      [
        request?: {
          urlParams?: Readonly<{
            action?: string
            actor?: string
            actor_id?: string
            resource_type?: string
            project?: string
            env?: string
            key?: string
            since?: string
            until?: string
            limit?: number
            after?: string
            org_id?: string
          }>
        }
      ],
      AuditPage,
      Denied
    >
    /** Check the log of entries without an organization, or that of one organization. */
    readonly verifyAll: Endpoint<
      [request?: { urlParams?: Readonly<{ from_seq?: number; seq?: number; chain?: string; org_id?: string }> }],
      AuditVerification,
      Denied
    >
  }
  readonly auth: {
    /** Show the ways to log in. */
    readonly methods: Endpoint<[], LoginMethods>
    /** Ask for a login code by e-mail. */
    readonly login: Endpoint<
      [request: { payload: Readonly<{ email: Email }> }],
      Readonly<{ message: string }>,
      "Forbidden" | "RateLimited"
    >
    /** Exchange a login code for a session. */
    readonly verify: Endpoint<
      [
        request: {
          payload: Readonly<{ email: Email; code: LoginCode; session?: "token" | "cookie"; machine?: string }>
        }
      ],
      Readonly<{ token: string }> | void,
      "Forbidden" | "InvalidCode" | "LockedOut"
    >
    /** Begin a login that a person approves in a browser. */
    readonly device: Endpoint<
      [request: { payload: Readonly<{ machine?: string }> }],
      DeviceLogin,
      "Forbidden" | "RateLimited"
    >
    /** Exchange an approved login for a session token. */
    readonly token: Endpoint<
      [request: { payload: Readonly<{ device_code?: DeviceCode; code?: LoopbackCode; verifier?: CodeVerifier }> }],
      Readonly<{ token: string }>,
      "AuthorizationPending" | "Forbidden" | "InvalidCode" | "SlowDown"
    >
    /** Sign a service account in with a token of a federation's issuer. */
    readonly federate: Endpoint<
      [request: { payload: Readonly<{ token: string; account: AccountReference }> }],
      Readonly<{ token: string; expires_at: Timestamp }>,
      "IssuerUnavailable" | "RateLimited" | "Unauthorized"
    >
    /** End the current session. */
    readonly logout: Endpoint<[], ProviderLogout | void, Denied>
    /** Show the owner of the credential. */
    readonly me: Endpoint<[], User | ServiceAccountIdentity, "Unauthorized">
    /** List the caller's own sessions. */
    readonly sessions: Endpoint<[], List<Session>, Denied>
    /** End all of the caller's sessions. */
    readonly endSessions: Endpoint<[request?: { urlParams?: Readonly<{ others?: "1" }> }], void, Denied>
    /** End one of the caller's sessions. */
    readonly endSession: Endpoint<[request: { path: Path<"session_id"> }], void, Denied>
  }
  readonly backups: {
    /** Back up the database now. */
    readonly create: Endpoint<[], Backup, Denied | "BackupFailed" | "BackupsDisabled" | "Reauthenticate">
    /** List backups. */
    readonly list: Endpoint<[], BackupList, Denied | "BackupFailed" | "BackupsDisabled">
    /** Decrypt a backup into a file beside the database. */
    readonly restore: Endpoint<
      [request: { path: Path<"backup_id"> }],
      Restore,
      Denied | "BackupFailed" | "BackupsDisabled" | "Conflict" | "DecryptionFailed" | "Reauthenticate"
    >
    /** Restore a backup into a temporary file and check all of it. */
    readonly drill: Endpoint<
      [request: { payload: Readonly<{ backup_id?: string }> }],
      Drill,
      Denied | "BackupFailed" | "BackupsDisabled" | "Conflict" | "Reauthenticate"
    >
  }
  readonly connections: {
    /** List the connections of an environment. */
    readonly list: Endpoint<
      [request: { path: Path<"org_name" | "project_name" | "env_name"> }],
      List<Connection>,
      Denied
    >
    /** Let the server log in to a database. */
    readonly create: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "env_name">
          payload: Readonly<{
            name: string
            kind?: "postgres" | "mysql" | "http"
            host: string
            port?: number
            database: string
            tls?: "verify-full" | "verify-ca" | "require"
            ca?: string
            user: string
            password_key: string
          }>
        }
      ],
      Connection,
      Denied | Voted | "Conflict" | "LimitExceeded" | "Reauthenticate"
    >
    /** Remove a connection. */
    readonly delete: Endpoint<
      [request: { path: Path<"org_name" | "project_name" | "env_name" | "connection_name"> }],
      void,
      Denied | Voted | "Conflict" | "LimitExceeded"
    >
    /** Try a connection. */
    readonly test: Endpoint<
      [request: { path: Path<"org_name" | "project_name" | "env_name" | "connection_name"> }],
      ConnectionTest,
      Denied | "RateLimited"
    >
    /** Remove a user that a lease left in a database. */
    readonly removeOrphan: Endpoint<
      [request: { path: Path<"org_name" | "project_name" | "env_name" | "connection_name" | "lease_id"> }],
      void,
      Denied | "Conflict" | "DecryptionFailed" | "Reauthenticate" | "UpstreamFailed"
    >
  }
  readonly consents: {
    /** Read the request of a program for a part of one's rights. */
    readonly review: Endpoint<
      [request: { payload: Readonly<{ request: string }> }],
      AuthorizationRequest,
      Denied | "RateLimited"
    >
    /** Grant a program a part of one's rights. */
    readonly create: Endpoint<
      [
        request: {
          payload: Readonly<{
            request: string
            org: string
            project: string
            env: string
            also?: ReadonlyArray<DelegatedEnvironment>
            permission: "use" | "read" | "write"
            keys?: ReadonlyArray<string>
            reveal: boolean
            expires_in: number
          }>
        }
      ],
      Consent,
      Denied | "LimitExceeded" | "RateLimited" | "Reauthenticate"
    >
  }
  readonly declared: {
    /** List the keys that a project declares. */
    readonly list: Endpoint<[request: { path: Path<"org_name" | "project_name"> }], List<DeclaredKey>, Denied>
    /** Show what a project declares of a key. */
    readonly get: Endpoint<[request: { path: Path<"org_name" | "project_name" | "key"> }], DeclaredKey, Denied>
    /** Declare a key, or replace what is declared of it. */
    readonly set: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "key">
          payload: Readonly<{
            required_in?: RequiredIn
            pattern?: string
            description?: string
            example?: string
            owner?: string
          }>
        }
      ],
      DeclaredKey,
      Denied | "LimitExceeded"
    >
    /** Declare a key no longer. */
    readonly delete: Endpoint<[request: { path: Path<"org_name" | "project_name" | "key"> }], void, Denied>
    /** Compare an environment with what its project declares, without returning values. */
    readonly check: Endpoint<
      [request: { path: Path<"org_name" | "project_name" | "env_name"> }],
      KeyCheck,
      Denied | "DecryptionFailed" | "LimitExceeded"
    >
  }
  readonly delegations: {
    /** Delegate a part of one's rights to an agent or a script. */
    readonly create: Endpoint<
      [
        request: {
          payload: Readonly<{
            name: string
            org: string
            project: string
            env: string
            also?: ReadonlyArray<DelegatedEnvironment>
            permission: "use" | "read" | "write"
            keys?: ReadonlyArray<string>
            reveal?: boolean
            expires_in: number
          }>
        }
      ],
      NewDelegation,
      Denied | "LimitExceeded" | "Reauthenticate"
    >
    /** List the caller's own delegations. */
    readonly list: Endpoint<[], List<Delegation>, Denied>
    /** Revoke one of the caller's delegations. */
    readonly revoke: Endpoint<[request: { path: Path<"delegation_id"> }], void, Denied>
  }
  readonly dues: {
    /** Set when a secret is due, and its owner. */
    readonly update: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "env_name" | "key">
          payload: Readonly<{ expires_at?: string | null; rotate_every_days?: number | null; owner?: Email | null }>
        }
      ],
      SecretListed,
      Denied | Voted | "DecryptionFailed" | "LimitExceeded"
    >
    /** List the secrets of an organization that are due, without returning values. */
    readonly list: Endpoint<
      [request: { path: Path<"org_name">; urlParams?: Readonly<{ within?: string; limit?: number; after?: string }> }],
      DuePage,
      Denied
    >
  }
  readonly environments: {
    /** Create an environment, empty or as a copy of another. */
    readonly create: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name">
          payload: Readonly<{ name: string; from?: string; keys?: ReadonlyArray<string>; expires_at?: string }>
        }
      ],
      Environment,
      | Denied
      | Voted
      | "Conflict"
      | "DecryptionFailed"
      | "LimitExceeded"
      | "PatternBroken"
      | "ReferenceRefused"
      | "UseWidens"
    >
    /** List environments. */
    readonly list: Endpoint<[request: { path: Path<"org_name" | "project_name"> }], List<Environment>, Denied>
    /** Set when an environment ends. */
    readonly extend: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "env_name">
          payload: Readonly<{ expires_at: string | null }>
        }
      ],
      Environment,
      Denied | Voted | "LimitExceeded" | "Reauthenticate"
    >
    /** Remove an environment. */
    readonly delete: Endpoint<
      [request: { path: Path<"org_name" | "project_name" | "env_name">; urlParams?: Readonly<{ force?: "1" }> }],
      void,
      Denied | Voted | "Conflict" | "LimitExceeded" | "Reauthenticate"
    >
    /** Compare the keys of all environments of a project, without returning values. */
    readonly matrix: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name">
          urlParams?: Readonly<{ envs?: string; format?: "full" | "compact" }>
        }
      ],
      Matrix | CompactMatrix,
      Denied | "RateLimited"
    >
    /** Read every secret of an environment. */
    readonly bundle: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "env_name">
          urlParams?: Readonly<{ keys?: string; format?: "list" | "object"; raw?: "1" }>
        }
      ],
      Bundle | BundleObject,
      Denied | "DecryptionFailed" | "ReferenceRefused"
    >
    /** Write and delete secrets of an environment, all or nothing. */
    readonly writeBundle: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "env_name">
          payload: Readonly<{
            set?: SecretValues
            references?: SecretValues
            delete?: ReadonlyArray<string>
            force?: boolean
            note?: string
            dry_run?: boolean
          }>
        }
      ],
      BundleWritten,
      | Denied
      | Voted
      | "Conflict"
      | "DecryptionFailed"
      | "LimitExceeded"
      | "PatternBroken"
      | "ReferenceRefused"
      | "UseWidens"
    >
    /** Copy secrets from another environment, without returning values. */
    readonly copy: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "env_name">
          payload: Readonly<{ from: string; keys?: ReadonlyArray<string>; dry_run?: boolean }>
        }
      ],
      BundleWritten,
      | Denied
      | Voted
      | "Conflict"
      | "DecryptionFailed"
      | "LimitExceeded"
      | "PatternBroken"
      | "ReferenceRefused"
      | "UseWidens"
    >
    /** Compare the keys of two environments, without returning values. */
    readonly diff: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "env_name">
          urlParams: Readonly<{ with: string; resolved?: "1" }>
        }
      ],
      Diff,
      Denied | "DecryptionFailed" | "RateLimited" | "ReferenceRefused"
    >
    /** List the changes of an environment, newest first, without values. */
    readonly revisions: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "env_name">
          urlParams?: Readonly<{ limit?: number; before?: number }>
        }
      ],
      List<Revision>,
      Denied
    >
    /** Revert an environment to a revision, without returning values. */
    readonly revert: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "env_name">
          payload: Readonly<{ to: Count; force?: boolean; dry_run?: boolean }>
        }
      ],
      BundleWritten,
      Denied | Voted | "Conflict" | "DecryptionFailed" | "LimitExceeded" | "ReferenceRefused" | "UseWidens"
    >
  }
  readonly exports: {
    /** Ask to take an organization out. */
    readonly create: Endpoint<
      [request: { path: Path<"org_name">; payload: Readonly<{ versions?: boolean }> }],
      OrganizationExport,
      Denied | "LimitExceeded" | "Reauthenticate"
    >
    /** List exports that have not ended. */
    readonly list: Endpoint<[request: { path: Path<"org_name"> }], List<OrganizationExport>, Denied>
    /** Show an export. */
    readonly get: Endpoint<[request: { path: Path<"org_name" | "export_id"> }], OrganizationExport, Denied>
    /** End an export. */
    readonly end: Endpoint<[request: { path: Path<"org_name" | "export_id"> }], void, Denied>
    /** Approve another owner's export. */
    readonly approve: Endpoint<
      [request: { path: Path<"org_name" | "export_id"> }],
      OrganizationExport,
      Denied | "Conflict" | "Reauthenticate"
    >
    /** Read the structure of an organization that is exported. */
    readonly structure: Endpoint<
      [request: { path: Path<"org_name" | "export_id"> }],
      ExportedStructure,
      Denied | "ApprovalNeeded" | "LimitExceeded"
    >
    /** Read the declared keys of a project that is exported. */
    readonly declared: Endpoint<
      [request: { path: Path<"org_name" | "export_id">; urlParams: Readonly<{ project: string }> }],
      ArchivedDeclarations,
      Denied | "ApprovalNeeded"
    >
    /** Read secrets of an environment that is exported. */
    readonly secrets: Endpoint<
      [
        request: {
          path: Path<"org_name" | "export_id">
          urlParams: Readonly<{ project: string; env: string; after?: string }>
        }
      ],
      ExportedVersions,
      Denied | "ApprovalNeeded" | "DecryptionFailed"
    >
  }
  readonly federations: {
    /** Let a service account sign in with an issuer's tokens. */
    readonly create: Endpoint<
      [
        request: {
          path: Path<"org_name" | "sa_id">
          payload: Readonly<{
            name: string
            issuer: Issuer
            jwks?: PublicKeys
            conditions: Conditions
            max_age?: number
            ttl?: number
            expires_at?: string
          }>
        }
      ],
      Federation,
      Denied | "Conflict" | "LimitExceeded" | "Reauthenticate"
    >
    /** List the federations of a service account. */
    readonly list: Endpoint<[request: { path: Path<"org_name" | "sa_id"> }], List<Federation>, Denied>
    /** Try a token against the federations of a service account. */
    readonly try: Endpoint<
      [request: { path: Path<"org_name" | "sa_id">; payload: Readonly<{ token: string }> }],
      FederationTrial,
      Denied | "IssuerUnavailable" | "RateLimited"
    >
    /** Revoke a federation and its sessions. */
    readonly revoke: Endpoint<[request: { path: Path<"org_name" | "sa_id" | "federation_id"> }], void, Denied>
  }
  readonly groups: {
    /** Create a group. */
    readonly create: Endpoint<
      [request: { path: Path<"org_name">; payload: Readonly<{ name: string }> }],
      Group,
      Denied | "Conflict" | "LimitExceeded"
    >
    /** List groups. */
    readonly list: Endpoint<[request: { path: Path<"org_name"> }], List<Group>, Denied>
    /** Show a group. */
    readonly get: Endpoint<[request: { path: Path<"org_name" | "group_name"> }], Group, Denied>
    /** Rename a group. */
    readonly rename: Endpoint<
      [request: { path: Path<"org_name" | "group_name">; payload: Readonly<{ name: string }> }],
      Group,
      Denied | "Conflict" | "Reauthenticate"
    >
    /** Remove a group and its access rules. */
    readonly remove: Endpoint<
      [request: { path: Path<"org_name" | "group_name"> }],
      void,
      Denied | "Conflict" | "Reauthenticate"
    >
    /** List the members of a group. */
    readonly members: Endpoint<[request: { path: Path<"org_name" | "group_name"> }], List<GroupMember>, Denied>
    /** Set all members of a group. */
    readonly setMembers: Endpoint<
      [request: { path: Path<"org_name" | "group_name">; payload: Readonly<{ emails: ReadonlyArray<string> }> }],
      Group,
      Denied | "Conflict" | "Reauthenticate"
    >
    /** Add a member to a group. */
    readonly addMember: Endpoint<
      [request: { path: Path<"org_name" | "group_name">; payload: Readonly<{ email: Email }> }],
      GroupMember,
      Denied | "Conflict" | "LimitExceeded" | "Reauthenticate"
    >
    /** Remove a member from a group. */
    readonly removeMember: Endpoint<
      [request: { path: Path<"org_name" | "group_name" | "user_id"> }],
      void,
      Denied | "Conflict"
    >
    /** List group mappings of the identity provider. */
    readonly mappings: Endpoint<[request: { path: Path<"org_name"> }], GroupMappings, Denied>
    /** Set group mappings of the identity provider. */
    readonly setMappings: Endpoint<
      [
        request: {
          path: Path<"org_name">
          payload: Readonly<{ mappings: ReadonlyArray<Readonly<{ provider_group: string; group: string }>> }>
        }
      ],
      GroupMappings,
      Denied | "Conflict" | "Reauthenticate"
    >
  }
  readonly history: {
    /** List the changes of all environments of a project, newest first, without values. */
    readonly list: Endpoint<
      [request: { path: Path<"org_name" | "project_name">; urlParams?: Readonly<{ limit?: number; after?: string }> }],
      ProjectRevisions,
      Denied
    >
  }
  readonly imports: {
    /** Start to import an organization. */
    readonly create: Endpoint<
      [request: { payload: Readonly<{ name: string; organization: string }> }],
      OrganizationImport,
      Denied | "Conflict" | "LimitExceeded" | "Reauthenticate"
    >
    /** Import declared keys of a project. */
    readonly declared: Endpoint<
      [
        request: {
          path: Path<"import_id">
          payload: Readonly<{ project: string; data: ReadonlyArray<ArchivedDeclaration> }>
        }
      ],
      void,
      Denied | "Conflict" | "LimitExceeded"
    >
    /** Import secrets of an environment. */
    readonly secrets: Endpoint<
      [
        request: {
          path: Path<"import_id">
          payload: Readonly<{ project: string; env: string; data: ReadonlyArray<ArchivedVersion> }>
        }
      ],
      void,
      Denied | "Conflict" | "DecryptionFailed" | "LimitExceeded"
    >
    /** Verify an imported organization, and make it visible. */
    readonly finish: Endpoint<
      [request: { path: Path<"import_id">; payload: Readonly<{ counts: SentCounts; name?: string }> }],
      ImportFinished,
      Denied | "Conflict" | "DecryptionFailed" | "LimitExceeded" | "ReferenceRefused"
    >
    /** Give up an import. */
    readonly abandon: Endpoint<[request: { path: Path<"import_id"> }], void, Denied>
  }
  readonly keys: {
    /** Find keys by a part of their name, without returning values. */
    readonly find: Endpoint<
      [request: { path: Path<"org_name">; urlParams: Readonly<{ query: string; limit?: number; after?: string }> }],
      FoundKeyPage,
      Denied
    >
  }
  readonly leaseRoles: {
    /** List the roles of an environment. */
    readonly list: Endpoint<
      [request: { path: Path<"org_name" | "project_name" | "env_name"> }],
      List<LeaseRole>,
      Denied
    >
    /** Let callers lease users of a database. */
    readonly create: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "env_name">
          payload: Readonly<{
            name: string
            connection: string
            create?: ReadonlyArray<string>
            revoke?: ReadonlyArray<string>
            default_ttl?: string
            max_ttl?: string
          }>
        }
      ],
      LeaseRole,
      Denied | Voted | "Conflict" | "LimitExceeded" | "Reauthenticate"
    >
    /** Read a role. */
    readonly get: Endpoint<
      [request: { path: Path<"org_name" | "project_name" | "env_name" | "role_name"> }],
      LeaseRole,
      Denied
    >
    /** Remove a role. */
    readonly delete: Endpoint<
      [request: { path: Path<"org_name" | "project_name" | "env_name" | "role_name"> }],
      void,
      Denied | Voted | "Conflict" | "LimitExceeded"
    >
  }
  readonly leases: {
    /** List the leases of an environment. */
    readonly list: Endpoint<[request: { path: Path<"org_name" | "project_name" | "env_name"> }], List<Lease>, Denied>
    /** Lease a user of a database. */
    readonly create: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "env_name" | "role_name">
          payload: Readonly<{ ttl?: string }>
        }
      ],
      IssuedLease,
      Denied | "Conflict" | "DecryptionFailed" | "LimitExceeded" | "UpstreamFailed"
    >
    /** Renew a lease. */
    readonly renew: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "env_name" | "lease_id">
          payload: Readonly<{ ttl?: string }>
        }
      ],
      Lease,
      Denied | "Conflict" | "DecryptionFailed" | "UpstreamFailed"
    >
    /** End a lease. */
    readonly revoke: Endpoint<
      [request: { path: Path<"org_name" | "project_name" | "env_name" | "lease_id"> }],
      void,
      Denied
    >
  }
  readonly members: {
    /** Invite a person by e-mail. */
    readonly invite: Endpoint<
      [request: { path: Path<"org_name">; payload: Readonly<{ email: Email; role?: Role }> }],
      Member,
      Denied | "Conflict" | "LimitExceeded" | "Reauthenticate"
    >
    /** List members and their roles. */
    readonly list: Endpoint<[request: { path: Path<"org_name"> }], List<Member>, Denied>
    /** Change a member's role. */
    readonly setRole: Endpoint<
      [request: { path: Path<"org_name" | "user_id">; payload: Readonly<{ role: Role }> }],
      Member,
      Denied | "Conflict" | "LastOwner" | "Reauthenticate"
    >
    /** Remove a member and their access rules. */
    readonly remove: Endpoint<
      [request: { path: Path<"org_name" | "user_id"> }],
      void,
      Denied | "Conflict" | "LastOwner" | "Reauthenticate"
    >
    /** Leave an organization, or decline an invitation. */
    readonly leave: Endpoint<
      [request: { path: Path<"org_name"> }],
      void,
      Denied | "Conflict" | "LastOwner" | "Reauthenticate"
    >
  }
  readonly organizations: {
    /** Create an organization. */
    readonly create: Endpoint<
      [request: { payload: Readonly<{ name: string }> }],
      Organization,
      Denied | Voted | "Conflict" | "LimitExceeded"
    >
    /** List the caller's organizations. */
    readonly list: Endpoint<[], List<Organization>, Denied>
    /** Show an organization. */
    readonly get: Endpoint<[request: { path: Path<"org_name"> }], Organization, Denied>
    /** Rename an organization, or change its settings. */
    readonly update: Endpoint<
      [
        request: {
          path: Path<"org_name">
          payload: Readonly<{
            name?: string
            passkey_recovery?: "login" | "none"
            unused_access_mail?: "never" | "monthly"
          }>
        }
      ],
      Organization,
      Denied | Voted | "Conflict" | "LimitExceeded" | "Reauthenticate"
    >
    /** Remove an organization. */
    readonly delete: Endpoint<
      [request: { path: Path<"org_name"> }],
      void,
      Denied | Voted | "LimitExceeded" | "Reauthenticate"
    >
  }
  readonly overview: {
    /** Show how much is in each project of an organization, and its last change. */
    readonly show: Endpoint<
      [request: { path: Path<"org_name">; urlParams?: Readonly<{ limit?: number; after?: string }> }],
      Overview,
      Denied
    >
  }
  readonly passkeys: {
    /** List the caller's own passkeys. */
    readonly list: Endpoint<[], List<Passkey>, Denied>
    /** Register a passkey. */
    readonly create: Endpoint<
      [request: { payload: Readonly<{ name: string; credential: RegistrationResponse }> }],
      Passkey,
      Denied | "Conflict" | "InvalidCode" | "LimitExceeded" | "Reauthenticate"
    >
    /** Begin to register a passkey. */
    readonly options: Endpoint<[], RegistrationOptions, Denied | "LimitExceeded" | "Reauthenticate">
    /** Remove one of the caller's passkeys. */
    readonly delete: Endpoint<[request: { path: Path<"passkey_id"> }], void, Denied | "Reauthenticate">
    /** Begin a proof with a passkey. */
    readonly challenge: Endpoint<[request: { payload: Readonly<{ session_id?: string }> }], AssertionOptions, Denied>
    /** Prove a session with a passkey. */
    readonly verify: Endpoint<
      [request: { payload: Readonly<{ credential: AssertionResponse }> }],
      ProvenSession,
      Denied | "InvalidCode"
    >
  }
  readonly previews: {
    /** Show what previews a project allows. */
    readonly get: Endpoint<[request: { path: Path<"org_name" | "project_name"> }], Previews, Denied>
    /** Allow previews in a project. */
    readonly set: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name">
          payload: Readonly<{ from: string; pattern: Pattern; max?: number; longest?: string }>
        }
      ],
      Previews,
      Denied | "Reauthenticate"
    >
    /** Allow no previews in a project any more. */
    readonly remove: Endpoint<[request: { path: Path<"org_name" | "project_name"> }], void, Denied | "Reauthenticate">
  }
  readonly projects: {
    /** Create a project. */
    readonly create: Endpoint<
      [request: { path: Path<"org_name">; payload: Readonly<{ name: string }> }],
      Project,
      Denied | Voted | "Conflict" | "LimitExceeded"
    >
    /** List projects. */
    readonly list: Endpoint<[request: { path: Path<"org_name"> }], List<Project>, Denied>
    /** Show a project. */
    readonly get: Endpoint<[request: { path: Path<"org_name" | "project_name"> }], Project, Denied>
    /** Rename a project, make it strict, or order its environments. */
    readonly rename: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name">
          payload: Readonly<{ name?: string; strict?: boolean; order?: ReadonlyArray<string> }>
        }
      ],
      Project,
      Denied | Voted | "Conflict" | "LimitExceeded" | "Reauthenticate"
    >
    /** Remove a project. */
    readonly delete: Endpoint<
      [request: { path: Path<"org_name" | "project_name"> }],
      void,
      Denied | Voted | "LimitExceeded" | "Reauthenticate"
    >
  }
  readonly protections: {
    /** Show how an environment is protected. */
    readonly get: Endpoint<[request: { path: Path<"org_name" | "project_name" | "env_name"> }], Protection, Denied>
    /** Protect an environment. */
    readonly set: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "env_name">
          payload: Readonly<{
            needed: number
            approvers: "owners" | "admins" | ReadonlyArray<string>
            self?: boolean
            break_glass?: ReadonlyArray<string>
            expires_after?: string
            passkey?: boolean
          }>
        }
      ],
      Protection,
      Denied | Voted | "Conflict" | "LimitExceeded" | "Reauthenticate"
    >
    /** End the protection of an environment. */
    readonly remove: Endpoint<
      [request: { path: Path<"org_name" | "project_name" | "env_name"> }],
      void,
      Denied | Voted | "Conflict" | "LimitExceeded" | "Reauthenticate"
    >
  }
  readonly requests: {
    /** Ask for access to an environment for a while. */
    readonly create: Endpoint<
      [
        request: {
          path: Path<"org_name">
          payload: Readonly<{
            kind: "access"
            project: string
            env: string
            permission: Permission
            expires_in: number
            reason: string
          }>
        }
      ],
      ApprovalRequest,
      Denied | "Conflict" | "LimitExceeded"
    >
    /** List requests for access and for changes. */
    readonly list: Endpoint<
      [
        request: {
          path: Path<"org_name">
          urlParams?: Readonly<{
            state?: "pending" | "done" | "refused" | "withdrawn" | "expired" | "outdated"
            kind?: "access" | "change"
            limit?: number
            after?: string
          }>
        }
      ],
      RequestPage,
      Denied
    >
    /** Show a request, without values. */
    readonly get: Endpoint<[request: { path: Path<"org_name" | "request_id"> }], ApprovalRequest, Denied>
    /** Read the values that a pending change sets. */
    readonly values: Endpoint<
      [request: { path: Path<"org_name" | "request_id"> }],
      List<RequestedValue>,
      Denied | "Conflict" | "DecryptionFailed"
    >
    /** Approve a request. */
    readonly approve: Endpoint<
      [request: { path: Path<"org_name" | "request_id">; payload: Readonly<{ comment?: string }> }],
      ApprovalRequest,
      Denied | "Conflict" | "Reauthenticate"
    >
    /** Refuse a request. */
    readonly refuse: Endpoint<
      [request: { path: Path<"org_name" | "request_id">; payload: Readonly<{ comment?: string }> }],
      ApprovalRequest,
      Denied | "Conflict" | "Reauthenticate"
    >
    /** Withdraw one's own request. */
    readonly withdraw: Endpoint<
      [request: { path: Path<"org_name" | "request_id"> }],
      ApprovalRequest,
      Denied | "Conflict"
    >
  }
  readonly rotations: {
    /** List the rotations of an environment. */
    readonly list: Endpoint<[request: { path: Path<"org_name" | "project_name" | "env_name"> }], List<Rotation>, Denied>
    /** Renew credentials in a database on a schedule. */
    readonly create: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "env_name">
          payload: Readonly<{
            name: string
            connection: string
            users: ReadonlyArray<string>
            writes: Readonly<Record<string, string>>
            every?: string
            window?: RotationWindow
            length?: number
            alphabet?: string
          }>
        }
      ],
      Rotation,
      Denied | Voted | "Conflict" | "LimitExceeded" | "Reauthenticate"
    >
    /** Read a rotation. */
    readonly get: Endpoint<
      [request: { path: Path<"org_name" | "project_name" | "env_name" | "rotation_name"> }],
      Rotation,
      Denied
    >
    /** Change, pause or resume a rotation. */
    readonly update: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "env_name" | "rotation_name">
          payload: Readonly<{
            writes?: Readonly<Record<string, string>>
            every?: string
            window?: RotationWindow | null
            paused?: boolean
          }>
        }
      ],
      Rotation,
      Denied | Voted | "LimitExceeded" | "Reauthenticate"
    >
    /** Remove a rotation. */
    readonly delete: Endpoint<
      [request: { path: Path<"org_name" | "project_name" | "env_name" | "rotation_name"> }],
      void,
      Denied | Voted | "Conflict" | "LimitExceeded"
    >
    /** Begin a turn of a rotation now. */
    readonly run: Endpoint<
      [request: { path: Path<"org_name" | "project_name" | "env_name" | "rotation_name"> }],
      Rotation,
      Denied | "Conflict" | "Reauthenticate"
    >
  }
  readonly scim: {
    /** Show whether a directory manages people. */
    readonly get: Endpoint<[request: { path: Path<"org_name"> }], Scim, Denied>
    /** Let a directory manage people by SCIM. */
    readonly enable: Endpoint<
      [request: { path: Path<"org_name"> }],
      ScimWithToken,
      Denied | "Conflict" | "Reauthenticate"
    >
    /** Stop the management of people by SCIM. */
    readonly disable: Endpoint<[request: { path: Path<"org_name"> }], void, Denied | "Conflict" | "Reauthenticate">
    /** Give the directory a new token. */
    readonly rotate: Endpoint<
      [request: { path: Path<"org_name"> }],
      ScimWithToken,
      Denied | "Conflict" | "Reauthenticate"
    >
  }
  readonly secrets: {
    /** Write a new version of a secret. */
    readonly set: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "env_name" | "key">
          payload: Readonly<{ value: string; kind?: "text" | "reference"; expected_version?: Count }>
        }
      ],
      SecretWritten,
      | Denied
      | Voted
      | "Conflict"
      | "DecryptionFailed"
      | "LimitExceeded"
      | "PatternBroken"
      | "ReferenceRefused"
      | "UseWidens"
    >
    /** Read the current or an earlier version of a secret. */
    readonly get: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "env_name" | "key">
          urlParams?: Readonly<{ version?: number; raw?: "1" }>
        }
      ],
      SecretRead,
      Denied | "DecryptionFailed" | "ReferenceRefused"
    >
    /** Remove a secret. */
    readonly delete: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "env_name" | "key">
          urlParams?: Readonly<{ expected_version?: number; force?: "1" }>
        }
      ],
      void,
      Denied | Voted | "Conflict" | "DecryptionFailed" | "LimitExceeded"
    >
    /** List keys, without returning values. */
    readonly list: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "env_name">
          urlParams?: Readonly<{ due_within?: string; removed?: "1"; key?: string; limit?: number; after?: string }>
        }
      ],
      Page<SecretListed>,
      Denied | "DecryptionFailed"
    >
    /** List what a secret refers to and what refers to it, without values. */
    readonly references: Endpoint<
      [request: { path: Path<"org_name" | "project_name" | "env_name" | "key"> }],
      SecretReferences,
      Denied | "DecryptionFailed"
    >
    /** List a secret's versions, newest first, without values. */
    readonly versions: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "env_name" | "key">
          urlParams?: Readonly<{ limit?: number; before?: number; compare?: "1" }>
        }
      ],
      List<SecretVersion>,
      Denied | "DecryptionFailed" | "RateLimited"
    >
    /** Restore an earlier value as a new version, without returning it. */
    readonly rollback: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "env_name" | "key">
          payload: Readonly<{ version: Count; expected_version?: Count }>
        }
      ],
      SecretWritten,
      Denied | Voted | "Conflict" | "DecryptionFailed" | "LimitExceeded" | "ReferenceRefused" | "UseWidens"
    >
    /** Restore a removed secret with its versions. */
    readonly undelete: Endpoint<
      [request: { path: Path<"org_name" | "project_name" | "env_name" | "key"> }],
      SecretWritten,
      Denied | Voted | "Conflict" | "DecryptionFailed" | "LimitExceeded" | "ReferenceRefused" | "UseWidens"
    >
    /** Erase earlier versions permanently. */
    readonly destroy: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "env_name" | "key">
          payload: Readonly<{ versions: ReadonlyArray<Count> }>
        }
      ],
      SecretDestroyed,
      Denied | Voted | "Conflict" | "DecryptionFailed" | "LimitExceeded" | "Reauthenticate"
    >
  }
  readonly server: {
    /** Show what this server offers. */
    readonly show: Endpoint<[], ServerFacts, "Unauthorized">
    /** List the server's settings and where they come from. */
    readonly settings: Endpoint<[], ServerSettings, Denied>
  }
  readonly serviceAccounts: {
    /** Create a service account. */
    readonly create: Endpoint<
      [
        request: {
          path: Path<"org_name">
          payload: Readonly<{
            name: string
            project?: string
            reveal?: boolean
            key?: boolean
            allowed_networks?: ReadonlyArray<string>
            expires_in_days?: number
          }>
        }
      ],
      NewServiceAccount,
      Denied | "Conflict" | "LimitExceeded" | "Reauthenticate"
    >
    /** List service accounts. */
    readonly list: Endpoint<[request: { path: Path<"org_name"> }], List<ServiceAccount>, Denied>
    /** Change the networks that a service account may call from. */
    readonly update: Endpoint<
      [
        request: {
          path: Path<"org_name" | "sa_id">
          payload: Readonly<{ allowed_networks?: ReadonlyArray<string> | null }>
        }
      ],
      ServiceAccount,
      Denied | "Conflict" | "Reauthenticate"
    >
    /** Revoke a service account and its access rules. */
    readonly revoke: Endpoint<[request: { path: Path<"org_name" | "sa_id"> }], void, Denied | "Reauthenticate">
    /** Give a service account a new key, or its first one. */
    readonly rotate: Endpoint<
      [request: { path: Path<"org_name" | "sa_id">; payload: Readonly<{ grace_seconds?: number }> }],
      ServiceAccountWithKey,
      Denied | "LimitExceeded" | "Reauthenticate"
    >
  }
  readonly system: {
    /** Check that the server is up. */
    readonly health: Endpoint<[], Health>
    /** Check that the database responds and the audit log can be written. */
    readonly ready: Endpoint<[], Health, "NotReady">
    /** Get this API definition as OpenAPI. */
    readonly openApi: Endpoint<[], Readonly<Record<string, unknown>>>
  }
  readonly targets: {
    /** List the targets of an environment. */
    readonly list: Endpoint<[request: { path: Path<"org_name" | "project_name" | "env_name"> }], List<Target>, Denied>
    /** Add a target on another platform. */
    readonly create: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "env_name">
          payload: Readonly<{
            name: string
            kind:
              | "vault"
              | "github-actions"
              | "gitlab"
              | "kubernetes"
              | "aws-secrets-manager"
              | "aws-parameter-store"
              | "vercel"
              | "cloudflare"
            place: Readonly<Record<string, string>>
            credential_key: string
            prefix?: string
            keys?: ReadonlyArray<string>
            rename?: Readonly<Record<string, string>>
            remove?: "own" | "never"
            automatic?: "off" | "push" | "repair"
          }>
        }
      ],
      Target,
      Denied | Voted | "Conflict" | "LimitExceeded" | "Reauthenticate"
    >
    /** Read a target. */
    readonly get: Endpoint<
      [request: { path: Path<"org_name" | "project_name" | "env_name" | "target_name"> }],
      Target,
      Denied
    >
    /** Let the server push to a target by itself, or stop it. */
    readonly update: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "env_name" | "target_name">
          payload: Readonly<{ automatic?: "off" | "push" | "repair"; paused?: boolean }>
        }
      ],
      Target,
      Denied | Voted | "LimitExceeded" | "Reauthenticate"
    >
    /** Delete a target. */
    readonly delete: Endpoint<
      [request: { path: Path<"org_name" | "project_name" | "env_name" | "target_name"> }],
      void,
      Denied | Voted | "LimitExceeded"
    >
    /** Plan a push to a target. */
    readonly plan: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "env_name" | "target_name">
          payload: Readonly<{ take_over?: boolean }>
        }
      ],
      TargetPlan,
      Denied | "Conflict" | "DecryptionFailed" | "UpstreamFailed"
    >
    /** Check a target. */
    readonly check: Endpoint<
      [request: { path: Path<"org_name" | "project_name" | "env_name" | "target_name"> }],
      TargetCheck,
      Denied | "Conflict" | "DecryptionFailed" | "UpstreamFailed"
    >
    /** Push secrets to a target. */
    readonly push: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "env_name" | "target_name">
          payload: Readonly<{ plan: string; take_over?: boolean }>
        }
      ],
      PushResult,
      Denied | "Conflict" | "DecryptionFailed" | "UpstreamFailed"
    >
  }
  readonly trash: {
    /** List removed organizations. */
    readonly organizations: Endpoint<[request?: { urlParams?: Readonly<{ name?: string }> }], List<Removed>, Denied>
    /** Restore a removed organization. */
    readonly restoreOrganization: Endpoint<
      [request: { path: Path<"removed_id">; payload: Readonly<{ name?: string }> }],
      Organization,
      Denied | "Conflict" | "Reauthenticate"
    >
    /** Erase a removed organization for good. */
    readonly eraseOrganization: Endpoint<
      [request: { path: Path<"removed_id">; payload: Readonly<{ name: string }> }],
      void,
      Denied | "ApprovalRequired" | "Reauthenticate"
    >
    /** List removed projects. */
    readonly projects: Endpoint<
      [request: { path: Path<"org_name">; urlParams?: Readonly<{ name?: string }> }],
      List<Removed>,
      Denied
    >
    /** Restore a removed project. */
    readonly restoreProject: Endpoint<
      [request: { path: Path<"org_name" | "removed_id">; payload: Readonly<{ name?: string }> }],
      Project,
      Denied | Voted | "Conflict" | "LimitExceeded" | "Reauthenticate"
    >
    /** Erase a removed project for good. */
    readonly eraseProject: Endpoint<
      [request: { path: Path<"org_name" | "removed_id">; payload: Readonly<{ name: string }> }],
      void,
      Denied | Voted | "LimitExceeded" | "Reauthenticate"
    >
    /** List removed environments. */
    readonly environments: Endpoint<
      [request: { path: Path<"org_name" | "project_name">; urlParams?: Readonly<{ name?: string }> }],
      List<Removed>,
      Denied
    >
    /** Restore a removed environment. */
    readonly restoreEnvironment: Endpoint<
      [request: { path: Path<"org_name" | "project_name" | "removed_id">; payload: Readonly<{ name?: string }> }],
      Environment,
      Denied | Voted | "Conflict" | "LimitExceeded" | "Reauthenticate"
    >
    /** Erase a removed environment for good. */
    readonly eraseEnvironment: Endpoint<
      [request: { path: Path<"org_name" | "project_name" | "removed_id">; payload: Readonly<{ name: string }> }],
      void,
      Denied | Voted | "LimitExceeded" | "Reauthenticate"
    >
  }
  readonly use: {
    /** List what the caller may use, without values. */
    readonly uses: Endpoint<[request: { path: Path<"org_name" | "project_name" | "env_name"> }], List<Use>, Denied>
    /** Make a request with secrets, without seeing them. */
    readonly use: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "env_name">
          payload: Readonly<{
            method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE"
            url: string
            headers?: Readonly<Record<string, string>>
            body?: string
            body_base64?: string
            stream?: boolean
            store?: StoreField
            secrets: ReadonlyArray<string>
          }>
        }
      ],
      UseResponse,
      | Denied
      | "ApprovalNeeded"
      | "BrokerDisabled"
      | "DecryptionFailed"
      | "LimitExceeded"
      | "UpstreamFailed"
      | "UseBudget"
      | "UseRefused"
    >
  }
  readonly useRules: {
    /** List the use rules of a secret. */
    readonly list: Endpoint<
      [request: { path: Path<"org_name" | "project_name" | "env_name" | "key"> }],
      List<UseRule>,
      Denied
    >
    /** Let accounts use a secret without seeing it. */
    readonly create: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "env_name" | "key">
          payload: Readonly<{
            hosts: ReadonlyArray<string>
            paths: ReadonlyArray<string>
            place: Placement
            accounts: ReadonlyArray<string>
            methods?: ReadonlyArray<string>
            per_minute?: number
            per_day?: number
            response?: "status" | "json" | "text" | "stream"
            max_kib?: number
            approval?: "none" | "each"
            expires_at?: string | null
          }>
        }
      ],
      UseRule,
      Denied | Voted | "LimitExceeded" | "Reauthenticate"
    >
    /** Change a use rule. */
    readonly update: Endpoint<
      [
        request: {
          path: Path<"org_name" | "project_name" | "env_name" | "key" | "use_rule_id">
          payload: Readonly<{
            hosts?: ReadonlyArray<string>
            paths?: ReadonlyArray<string>
            place?: Placement
            accounts?: ReadonlyArray<string>
            methods?: ReadonlyArray<string>
            per_minute?: number
            per_day?: number
            response?: "status" | "json" | "text" | "stream"
            max_kib?: number
            approval?: "none" | "each"
            expires_at?: string | null
          }>
        }
      ],
      UseRule,
      Denied | Voted | "LimitExceeded" | "Reauthenticate"
    >
    /** Remove a use rule. */
    readonly delete: Endpoint<
      [request: { path: Path<"org_name" | "project_name" | "env_name" | "key" | "use_rule_id"> }],
      void,
      Denied | Voted | "LimitExceeded"
    >
  }
  readonly users: {
    /** List all users, by e-mail. */
    readonly list: Endpoint<
      [
        request?: {
          urlParams?: Readonly<{ email?: string; disabled?: "true" | "false"; limit?: number; after?: string }>
        }
      ],
      UserPage,
      Denied
    >
    /** Disable a user: sessions and login codes end at once. */
    readonly disable: Endpoint<
      [request: { path: Path<"user_id"> }],
      DisabledUser,
      Denied | "Conflict" | "Reauthenticate"
    >
    /** Enable a disabled user. */
    readonly enable: Endpoint<[request: { path: Path<"user_id"> }], UserRecord, Denied | "Reauthenticate">
    /** End a user's sessions and pending login code. */
    readonly endSessions: Endpoint<[request: { path: Path<"user_id"> }], UserRecord, Denied>
  }
  readonly webhooks: {
    /** Create a webhook. */
    readonly create: Endpoint<
      [
        request: {
          path: Path<"org_name">
          payload: Readonly<{
            url: WebhookUrl
            events: ReadonlyArray<string>
            environments?: ReadonlyArray<string>
            format?: "coffer" | "slack" | "discord" | "teams" | "ntfy"
          }>
        }
      ],
      WebhookWithKey,
      Denied | "LimitExceeded" | "Reauthenticate"
    >
    /** List the webhooks of an organization. */
    readonly list: Endpoint<[request: { path: Path<"org_name"> }], List<Webhook>, Denied>
    /** Read a webhook. */
    readonly get: Endpoint<[request: { path: Path<"org_name" | "webhook_id"> }], Webhook, Denied>
    /** Change, disable or enable a webhook. */
    readonly update: Endpoint<
      [
        request: {
          path: Path<"org_name" | "webhook_id">
          payload: Readonly<{
            url?: WebhookUrl
            events?: ReadonlyArray<string>
            environments?: ReadonlyArray<string>
            format?: "coffer" | "slack" | "discord" | "teams" | "ntfy"
            enabled?: boolean
            skip?: boolean
          }>
        }
      ],
      Webhook,
      Denied | "Conflict" | "Reauthenticate"
    >
    /** Remove a webhook and its signing keys. */
    readonly delete: Endpoint<[request: { path: Path<"org_name" | "webhook_id"> }], void, Denied>
    /** Replace the signing key of a webhook. */
    readonly rotateKey: Endpoint<
      [request: { path: Path<"org_name" | "webhook_id">; payload: Readonly<{ grace_seconds?: number }> }],
      WebhookWithKey,
      Denied | "Reauthenticate"
    >
    /** Send a test event to a webhook. */
    readonly test: Endpoint<
      [request: { path: Path<"org_name" | "webhook_id"> }],
      WebhookDelivery,
      Denied | "RateLimited"
    >
    /** List the deliveries of a webhook, newest first. */
    readonly deliveries: Endpoint<
      [request: { path: Path<"org_name" | "webhook_id">; urlParams?: Readonly<{ limit?: number; after?: string }> }],
      WebhookDeliveryPage,
      Denied
    >
    /** Send an event again. */
    readonly sendAgain: Endpoint<
      [request: { path: Path<"org_name" | "webhook_id" | "delivery_id"> }],
      WebhookDelivery,
      Denied | "RateLimited"
    >
  }
}

export type AccessHolder = Readonly<{
  kind: HolderKind
  id: string
  email?: Email
  name?: string
  group?: string
  invited?: boolean
  permission: OpenPermission
  for_some?: boolean
  because: AccessReason
  last_used_at?: Timestamp | null
  usage?: Usage
  delegations?: ReadonlyArray<HolderDelegation>
}>

export type AccessPage = Page<EnvironmentAccess>

export type AccessReason = Readonly<{
  permission: OpenPermission
  by: Ground
  role?: string
  rule_id?: string
  group?: string
  key_pattern?: string
  denies?: boolean
  expires_at?: Timestamp
  limited_by?: string
  project_pattern?: string
  env_pattern?: string
}>

export type AccessReview = Readonly<{
  by: string
  at: Timestamp
  permission: OpenPermission
  people: Count
  service_accounts: Count
  groups: Count
  delegations: Count
}>

export type AccountReference = string

export type AclExplanation = Readonly<{
  allowed: ReadonlyArray<OpenPermission>
  allowed_for_some?: ReadonlyArray<OpenPermission>
  because: ReadonlyArray<AclReason>
  via?: string
}>

export type AclReason = Readonly<{
  permission: OpenPermission
  by: Ground
  role?: string
  rule_id?: string
  group?: string
  key_pattern?: string
  denies?: boolean
  expires_at?: Timestamp
  limited_by?: string
}>

export type AclRule = Readonly<{
  id: string
  subject_type: OpenSubjectType
  subject_id: string
  email?: Email
  name?: string
  group?: string
  project_pattern: string
  env_pattern: string
  permission: OpenPermission
  key_pattern?: string
  denies?: boolean
  expires_at?: Timestamp
  request_id?: string
  usage?: Usage
  created_by: string
  created_at: Timestamp
  updated_at: Timestamp
}>

export type ActivityKind = Readonly<{ name: string; entries: Count; counts: ReadonlyArray<Count> }>

export type ActorType = "user" | "service_account" | "system"

export type Approval = Readonly<{
  id: string
  state: ApprovalState
  project: string
  env: string
  account: string
  secrets: ReadonlyArray<string>
  method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE"
  url: string
  headers: Readonly<Record<string, string>>
  body?: string
  body_base64?: string
  store?: StoreField
  created_at: Timestamp
  expires_at: Timestamp
}>

export type ApprovalRequest = Readonly<{
  id: string
  kind: RequestKind
  state: RequestState
  project: string
  env: string
  requester: string
  reason?: string
  call?: string
  details?: ReadonlyArray<string>
  keys?: ReadonlyArray<RequestedKey>
  permission?: OpenPermission
  expires_in?: Count
  rule_id?: string
  revision?: Count
  needed: Count
  votes: ReadonlyArray<RequestVote>
  outdated?: ReadonlyArray<string>
  may_vote: boolean
  is_own: boolean
  was_waiting?: boolean
  created_at: Timestamp
  expires_at: Timestamp
  decided_at?: Timestamp
}>

export type ApprovalState = "pending" | "approved" | "refused" | "used"

export type ArchiveCounts = Readonly<{
  projects: Count
  environments: Count
  secrets: Count
  versions: Count
  use_rules: Count
  declared: Count
  members: Count
  groups: Count
  accounts: Count
  rules: Count
  webhooks: Count
  fields?: ArchivedFieldCounts
}>

export type ArchivedAccount = Readonly<{
  name: string
  project?: string
  reveal: boolean
  expires_in_days?: number
  allowed_networks?: ReadonlyArray<string>
  federations: ReadonlyArray<ArchivedFederation>
}>

export type ArchivedCurrentVersion = Readonly<{
  expires_at?: ArchivedTime
  rotate_every_days?: number
  owner?: Email
  use_rules: ReadonlyArray<ArchivedUseRule>
}>

export type ArchivedDeclaration = Readonly<{
  key: string
  required_in?: RequiredIn
  pattern?: string
  description?: string
  example?: string
  owner?: string
}>

export type ArchivedDeclarations = List<ArchivedDeclaration>

export type ArchivedFederation = Readonly<{
  name: string
  issuer: Issuer
  jwks?: PublicKeys
  conditions: Conditions
  max_age: number
  ttl: number
  expires_at?: ArchivedTime
}>

export type ArchivedFieldCounts = Readonly<{
  mappings: Count
  "projects.order": Count
  "projects.previews": Count
  "environments.protection": Count
  "environments.expires_at": Count
  "environments.from": Count
  "accounts.project": Count
  "accounts.expires_in_days": Count
  "accounts.allowed_networks": Count
  federations: Count
  "federations.expires_at": Count
  "federations.jwks": Count
  "federations.kid": Count
  "declared.required_in": Count
  "declared.pattern": Count
  "declared.description": Count
  "declared.example": Count
  "declared.owner": Count
  "versions.revision": Count
  "versions.kind": Count
  "versions.note": Count
  "secrets.expires_at": Count
  "secrets.rotate_every_days": Count
  "secrets.owner": Count
}>

export type ArchivedGroup = Readonly<{ name: string; members: ReadonlyArray<string> }>

export type ArchivedMapping = Readonly<{ provider_group: ProviderGroup; group: string }>

export type ArchivedMember = Readonly<{ email: Email; role: Role }>

export type ArchivedOrganization = Readonly<{
  passkey_recovery: "login" | "none"
  unused_access_mail?: "never" | "monthly"
  members: ReadonlyArray<ArchivedMember>
  groups: ReadonlyArray<ArchivedGroup>
  mappings: ReadonlyArray<ArchivedMapping>
  projects: ReadonlyArray<ArchivedProject>
  accounts: ReadonlyArray<ArchivedAccount>
  rules: ReadonlyArray<ArchivedRule>
  webhooks: ReadonlyArray<ArchivedWebhook>
}>

export type ArchivedPlace = Readonly<{
  name: string
  protection?: ArchivedProtection
  expires_at?: ArchivedTime
  from?: string
}>

export type ArchivedPreviews = Readonly<{ from: string; pattern: Pattern; max?: number; longest?: string }>

export type ArchivedProject = Readonly<{
  name: string
  strict: boolean
  order?: ReadonlyArray<string>
  previews?: ArchivedPreviews
  environments: ReadonlyArray<ArchivedPlace>
}>

export type ArchivedProtection = Readonly<{
  needed: number
  approvers: "owners" | "admins" | ReadonlyArray<string>
  self?: boolean
  break_glass?: ReadonlyArray<string>
  expires_after?: string
  passkey?: boolean
}>

export type ArchivedRule = Readonly<{
  subject_type: "user" | "service_account" | "group"
  subject: string
  project_pattern: Pattern
  env_pattern: Pattern
  permission: Permission
  key_pattern?: string
  denies?: true
  expires_at?: ArchivedTime
}>

export type ArchivedTime = string

export type ArchivedUseRule = Readonly<{
  hosts: ReadonlyArray<string>
  methods: ReadonlyArray<string>
  paths: ReadonlyArray<string>
  place: Placement
  accounts: ReadonlyArray<string>
  per_minute: number
  per_day: number
  response: "status" | "json" | "text" | "stream"
  max_kib: number
  approval: "none" | "each"
  expires_at: ArchivedTime | null
}>

export type ArchivedVersion = Readonly<{
  key: string
  version: Count
  kind?: "text" | "reference"
  value?: string
  created_at: ArchivedTime
  created_by: string
  revision?: Count
  note?: string
  destroyed_at?: ArchivedTime
  current?: ArchivedCurrentVersion
}>

export type ArchivedWebhook = Readonly<{
  url: WebhookUrl
  events: ReadonlyArray<string>
  environments: ReadonlyArray<string>
  format?: "coffer" | "slack" | "discord" | "teams" | "ntfy"
  enabled: boolean
}>

export type AskingProgram = Readonly<{ name: string; host?: string }>

export type AssertionOptions = Readonly<{
  challenge: string
  timeout: Count
  rpId: string
  allowCredentials: ReadonlyArray<CredentialDescriptor>
  userVerification: "required"
}>

export type AssertionResponse = Readonly<{
  id: string
  response: Readonly<{ clientDataJSON: string; authenticatorData: string; signature: string }>
}>

export type AuditAction =
  | "auth.login"
  | "auth.logout"
  | "auth.verify"
  | "auth.verify_failed"
  | "auth.lockout"
  | "auth.federate"
  | "org.create"
  | "org.update"
  | "org.delete"
  | "org.restore"
  | "org.erase"
  | "org.export"
  | "org.export_approve"
  | "org.export_end"
  | "org.import"
  | "org.member_invite"
  | "org.member_remove"
  | "org.member_role_update"
  | "project.create"
  | "project.update"
  | "project.delete"
  | "project.restore"
  | "project.erase"
  | "declared.set"
  | "declared.delete"
  | "previews.set"
  | "previews.delete"
  | "env.create"
  | "env.extend"
  | "env.expiring"
  | "env.expire"
  | "env.delete"
  | "env.restore"
  | "env.erase"
  | "env.revert"
  | "secret.set"
  | "secret.read"
  | "secret.check"
  | "secret.compare"
  | "secret.delete"
  | "secret.update"
  | "secret.due"
  | "secret.copy"
  | "secret.rotated"
  | "secret.undelete"
  | "secret.destroy"
  | "secret.decryption_failed"
  | "secret.use"
  | "secret.answer"
  | "secret.push"
  | "push.failed"
  | "target.create"
  | "target.update"
  | "target.delete"
  | "use_rule.create"
  | "use_rule.update"
  | "use_rule.delete"
  | "connection.create"
  | "connection.delete"
  | "connection.test"
  | "rotation.create"
  | "rotation.update"
  | "rotation.delete"
  | "rotation.run"
  | "rotation.failed"
  | "lease_role.create"
  | "lease_role.delete"
  | "lease.create"
  | "lease.renew"
  | "lease.revoke"
  | "lease.ended"
  | "lease.failed"
  | "lease.left"
  | "orphan.found"
  | "orphan.delete"
  | "approval.request"
  | "approval.approve"
  | "approval.refuse"
  | "protection.set"
  | "protection.delete"
  | "request.create"
  | "request.read"
  | "request.approve"
  | "request.refuse"
  | "request.withdraw"
  | "request.apply"
  | "request.expire"
  | "request.outdate"
  | "secret.break_glass"
  | "acl.grant"
  | "acl.revoke"
  | "acl.expire"
  | "acl.review"
  | "group.create"
  | "group.update"
  | "group.delete"
  | "group.member_add"
  | "group.member_remove"
  | "group.members_set"
  | "group.map"
  | "group.login"
  | "scim.enable"
  | "scim.rotate"
  | "scim.disable"
  | "delegation.create"
  | "delegation.revoke"
  | "passkey.create"
  | "passkey.delete"
  | "service_account.create"
  | "service_account.update"
  | "service_account.revoke"
  | "service_account.rotate"
  | "service_account.expiring"
  | "federation.create"
  | "federation.revoke"
  | "webhook.create"
  | "webhook.update"
  | "webhook.delete"
  | "webhook.rotate"
  | "webhook.test"
  | "webhook.send"
  | "webhook.disable"
  | "user.disable"
  | "user.enable"
  | "user.end_sessions"
  | "backup.create"
  | "backup.restore"
  | "backup.drill"
  | "key.rotate"
  | "audit.break"
  | "audit.missing"
  | "audit.archive"
  | "access.denied"

export type AuditActivity = Readonly<{
  since: Timestamp
  seconds: number
  complete: boolean
  entries: Count
  counts: ReadonlyArray<Count>
  actions: ReadonlyArray<ActivityKind>
  actors: ReadonlyArray<ActivityKind>
}>

export type AuditEntry = Readonly<{
  id: string
  seq: Count
  actor_type: ActorType
  actor_id: string | null
  actor_name: string
  action: AuditAction
  resource_type: ResourceType
  resource_id: string | null
  org_id: string | null
  ip_address: string | null
  metadata: Readonly<Record<string, unknown>>
  created_at: Timestamp
}>

export type AuditPage = Readonly<{
  data: ReadonlyArray<AuditEntry>
  pagination: Readonly<{
    total: Count
    at_least?: boolean
    archived?: Count
    limit: Count
    has_next: boolean
    next_cursor: string | null
  }>
}>

export type AuditVerification = Readonly<{
  valid: boolean
  entries: Count
  head: Readonly<{ seq: Count; chain: string }> | null
  first_invalid_seq: Count | null
  archived?: Count
  missing?: ReadonlyArray<string>
  first_invalid_log?: Count
}>

export type AuthorizationRequest = Readonly<{
  program: AskingProgram
  answer_to: string
  is_local: boolean
  permission: "use" | "read" | "write"
  reveal: boolean
  problem?: string
  refuse_to: string
}>

export type Backup = Readonly<{
  id: string
  created_at: Timestamp
  size_bytes: Int
  trigger: BackupTrigger
  key_fingerprint: string
  instance: string
}>

export type BackupCounts = Readonly<{
  organizations: Int
  projects: Int
  environments: Int
  secrets: Int
  versions: Int
  entries: Int
}>

export type BackupList = Readonly<{ data: ReadonlyArray<Backup>; server: BackupServer }>

export type BackupServer = Readonly<{ instance: string; organizations: Int }>

export type BackupTrigger = "manual" | "scheduled"

export type Bundle = Readonly<{
  revision: Count
  data: ReadonlyArray<BundledSecret>
  errors?: ReadonlyArray<BundleError>
}>

export type BundleError = Readonly<{ key: string; code: string; message: string }>

export type BundleObject = Readonly<Record<string, string>>

export type BundleWritten = Readonly<{
  revision: Count
  data: ReadonlyArray<SecretChange>
  left_out?: Count
  warnings?: ReadonlyArray<KeyWarning>
}>

export type BundledSecret = Readonly<{
  key: string
  value: string
  version: Count
  updated_at: Timestamp
  kind?: SecretKind
}>

export type Change = "created" | "updated" | "unchanged" | "deleted"

export type ChangeRequested = Readonly<{
  id: string
  kind: RequestKind
  state: RequestState
  project: string
  env: string
  requester: string
  reason?: string
  call?: string
  details?: ReadonlyArray<string>
  keys?: ReadonlyArray<RequestedKey>
  permission?: OpenPermission
  expires_in?: Count
  rule_id?: string
  revision?: Count
  needed: Count
  votes: ReadonlyArray<RequestVote>
  outdated?: ReadonlyArray<string>
  may_vote: boolean
  is_own: boolean
  was_waiting?: boolean
  created_at: Timestamp
  expires_at: Timestamp
  decided_at?: Timestamp
}>

export type CodeVerifier = string

export type CompactFacts = Readonly<{
  row: Count
  cell: Count
  kind?: SecretKind
  expires_at?: Timestamp
  rotate_every_days?: Count
  owner?: Email
  turn_at?: Timestamp
  due_at?: Timestamp
}>

export type CompactMatrix = Readonly<{
  environments: ReadonlyArray<MatrixEnvironment>
  others: ReadonlyArray<string>
  writers: ReadonlyArray<string>
  writes: ReadonlyArray<ReadonlyArray<Int>>
  facts: ReadonlyArray<CompactFacts>
  data: ReadonlyArray<CompactRow>
}>

export type CompactRow = Readonly<{ key: string; cells: ReadonlyArray<ReadonlyArray<Int | null> | null> }>

export type Conditions = Readonly<Record<string, string>>

export type Connection = Readonly<{
  name: string
  kind: "postgres" | "mysql" | "http"
  host: string
  port: number
  database: string
  tls: "verify-full" | "verify-ca" | "require"
  ca: string | null
  user: string
  password_key: string
  orphans: Count
  created_by: string
  created_at: Timestamp
}>

export type ConnectionTest = Readonly<{
  ok: boolean
  problem: string | null
  version: string | null
  may_create: boolean
  may_change: boolean
  orphans: ReadonlyArray<Orphan>
}>

export type Consent = Readonly<{ continue_to: string }>

export type Count = number

export type CreatedAccount = Readonly<{
  id: string
  name: string
  org: string
  project: string | null
  created_at: Timestamp
  last_used_at: Timestamp | null
}>

export type CredentialDescriptor = Readonly<{ id: string; type: "public-key"; transports?: ReadonlyArray<string> }>

export type DeclaredKey = Readonly<{
  key: string
  required_in: RequiredIn
  pattern?: string
  description?: string
  example?: string
  owner?: string
  updated_at: Timestamp
  updated_by: string
}>

export type DelegatedEnvironment = Readonly<{ project: string; env: string }>

export type DelegatedPermission = "use" | "read" | "write"

export type Delegation = Readonly<{
  id: string
  name: string
  org: string
  project: string
  env: string
  also?: ReadonlyArray<DelegatedEnvironment>
  permission: DelegatedPermission
  reveal: boolean
  keys?: ReadonlyArray<string>
  expires_at: Timestamp
  program?: AskingProgram
  created_at: Timestamp
  last_used_at: Timestamp | null
}>

export type DeliveryKind = "event" | "test" | "again"

export type DeliveryReason =
  "status" | "url" | "scheme" | "no address" | "address refused" | "certificate" | "connection" | "timeout"

export type DeliveryState = "pending" | "delivered" | "failed" | "skipped"

export type DeviceCode = string

export type DeviceLogin = Readonly<{
  device_code: DeviceCode
  user_code: string
  verification_uri: string
  verification_uri_complete: string
  expires_in: Count
  interval: Count
}>

export type Diff = Readonly<{ data: ReadonlyArray<SecretDifference>; left_out?: Count }>

export type Difference = "only_here" | "only_there" | "same" | "different"

export type DisabledUser = Readonly<{
  id: string
  email: Email
  name: string
  is_superadmin: boolean
  disabled_at: Timestamp | null
  created_at: Timestamp
  last_seen_at: Timestamp | null
  organizations: Count
  sessions: Count
  service_accounts: ReadonlyArray<CreatedAccount>
}>

export type Drill = Readonly<{
  backup: Backup
  valid: boolean
  problems: ReadonlyArray<string>
  age_seconds: Int
  seconds: number
  counts: BackupCounts | null
}>

export type DuePage = Page<DueSecret>

export type DueSecret = Readonly<{
  project: string
  env: string
  key: string
  version: Count
  updated_at: Timestamp
  expires_at?: Timestamp
  rotate_every_days?: Count
  owner?: Email
  turn_at?: Timestamp
  due_at: Timestamp
}>

export type Email = string

export type Environment = Readonly<{
  id: string
  name: string
  position?: Count
  protected?: boolean
  expires_at?: Timestamp
  created_at: Timestamp
  updated_at: Timestamp
}>

export type EnvironmentAccess = Readonly<{
  project: string
  env: string
  position?: Count
  permission: OpenPermission | null
  permission_for_some?: OpenPermission
  because?: AccessReason
  usage?: Usage
}>

export type Erased = "now" | "pending"

export type ExportState = "waiting" | "ready"

export type ExportedStructure = Readonly<{
  name: string
  server: string
  counts: ArchiveCounts
  organization: ArchivedOrganization
}>

export type ExportedVersions = Readonly<{
  revision: Count
  data: ReadonlyArray<ArchivedVersion>
  next_cursor: string | null
}>

export type Federation = Readonly<{
  id: string
  name: string
  issuer: Issuer
  audience: string
  conditions: Conditions
  key_ids: ReadonlyArray<string | null> | null
  max_age: number
  ttl: number
  expires_at: Timestamp | null
  created_by: string
  created_at: Timestamp
  last_used_at: Timestamp | null
}>

export type FederationTrial = Readonly<{
  takes: string | null
  signed: boolean
  issuer: string | null
  federations: ReadonlyArray<
    Readonly<{
      name: string
      failed: ReadonlyArray<Readonly<{ claim: string; expected: string; found: string | null }>>
    }>
  >
}>

export type FoundKey = Readonly<{
  project: string
  env: string
  key: string
  version: Count
  updated_at: Timestamp
  kind?: SecretKind
  declared: boolean
}>

export type FoundKeyPage = Page<FoundKey>

export type Ground = "superadmin" | "role" | "rule"

export type Group = Readonly<{
  id: string
  name: string
  source?: GroupSource
  members: Count
  rules: Count
  created_by: string
  created_at: Timestamp
  updated_at: Timestamp
}>

export type GroupMapping = Readonly<{ provider_group: ProviderGroup; group: string }>

export type GroupMappings = Readonly<{ data: ReadonlyArray<GroupMapping>; claim: string | null }>

export type GroupMember = Readonly<{
  user_id: string
  email: Email
  name: string
  added_by?: string
  created_at?: Timestamp
  provider_group?: string
  login_ends_at?: Timestamp
}>

export type GroupSource = "manual" | "scim"

export type Health = Readonly<{ status: "ok" }>

export type HolderDelegation = Readonly<{
  id: string
  name: string
  permission: OpenPermission
  keys?: ReadonlyArray<string>
  limited_by?: string
  expires_at: Timestamp
  last_used_at: Timestamp | null
}>

export type HolderKind = "group" | "service_account" | "user"

export type HolderPage = Readonly<{
  data: ReadonlyArray<AccessHolder>
  superadmins: Count
  reviewed?: LastReview
  pagination: Readonly<{ limit: Count; has_next: boolean; next_cursor: string | null }>
}>

export type ImportFinished = Readonly<{
  organization: Organization
  counts: ArchiveCounts
  left_out?: ReadonlyArray<string>
}>

export type Int = number

export type IssuedLease = Readonly<{
  id: string
  role: string
  username: string
  expires_at: Timestamp
  expires_in: Count
  renewable_until: Timestamp
  renewable_for: Count
  password: string
  url: string
}>

export type Issuer = string

export type KeyCheck = Readonly<{
  declared: Count
  missing: ReadonlyArray<string>
  extra: ReadonlyArray<string>
  breaks: ReadonlyArray<string> | null
}>

export type KeyProblem = "breaks_pattern" | "required"

export type KeyWarning = Readonly<{ key: string; problem: KeyProblem }>

export type LastReview = Readonly<{ by: string; at: Timestamp }>

export type Lease = Readonly<{
  id: string
  role: string
  username: string
  expires_at: Timestamp
  expires_in: Count
  renewable_until: Timestamp
  renewable_for: Count
  state: LeaseState
  holder: string
  delegation: string | null
  ended: string | null
  problem: string | null
  created_at: Timestamp
}>

export type LeaseRole = Readonly<{
  name: string
  connection: string
  create: ReadonlyArray<string>
  revoke: ReadonlyArray<string>
  default_ttl: string
  max_ttl: string
  created_by: string
  created_at: Timestamp
}>

export type LeaseState = "making" | "live" | "ending"

export type LoginCode = string

export type LoginMethods = Readonly<{
  email: boolean
  provider: Readonly<{ name: string; issuer: string }> | null
  public_url: string | null
}>

export type LoopbackCode = string

export type Matrix = Readonly<{
  environments: ReadonlyArray<MatrixEnvironment>
  others: ReadonlyArray<string>
  data: ReadonlyArray<MatrixRow>
}>

export type MatrixCell = Readonly<{
  version: Count
  updated_at: Timestamp
  updated_by: string
  same: Count | null
  kind?: SecretKind
  expires_at?: Timestamp
  rotate_every_days?: Count
  owner?: Email
  turn_at?: Timestamp
  due_at?: Timestamp
}>

export type MatrixEnvironment = Readonly<{
  name: string
  position?: Count
  protected?: boolean
  expires_at?: Timestamp
  allowed: ReadonlyArray<OpenPermission>
  left_out?: Count
  reveals: boolean
  revision: Count | null
  targets?: TargetState
  etag: string | null
}>

export type MatrixRow = Readonly<{ key: string; cells: ReadonlyArray<MatrixCell | null> }>

export type Member = Readonly<{
  user_id: string
  email: Email
  name: string
  role: OpenRole
  created_at: Timestamp
  accepted?: boolean
  has_access?: boolean
  last_seen_at?: Timestamp | null
}>

export type NewDelegation = Readonly<{
  id: string
  name: string
  org: string
  project: string
  env: string
  also?: ReadonlyArray<DelegatedEnvironment>
  permission: DelegatedPermission
  reveal: boolean
  keys?: ReadonlyArray<string>
  expires_at: Timestamp
  program?: AskingProgram
  created_at: Timestamp
  last_used_at: Timestamp | null
  token: string
}>

export type NewServiceAccount = Readonly<{
  id: string
  name: string
  project: string | null
  reveal: boolean
  allowed_networks?: ReadonlyArray<string>
  network_notes?: ReadonlyArray<string>
  key_hint: string
  expires_at: Timestamp | null
  created_by: string
  created_at: Timestamp
  last_used_at: Timestamp | null
  usage?: Usage
  etag?: string
  api_key?: string
}>

export type OpenPermission = "use" | "read" | "write" | "admin"

export type OpenRole = "member" | "developer" | "admin" | "owner"

export type OpenSubjectType = "user" | "service_account" | "group"

export type OrgCreation = "anyone" | "superadmin"

export type Organization = Readonly<{
  id: string
  name: string
  role: OpenRole | null
  accepted?: boolean
  passkey_recovery?: PasskeyRecovery
  unused_access_mail?: UnusedAccessMail
  created_at: Timestamp
  updated_at: Timestamp
}>

export type OrganizationExport = Readonly<{
  id: string
  state: ExportState
  versions: boolean
  created_by: string
  approved_by?: string
  created_at: Timestamp
  expires_at: Timestamp
}>

export type OrganizationImport = Readonly<{
  id: string
  name: string
  left_out: ReadonlyArray<string>
  created_at: Timestamp
  expires_at: Timestamp
}>

export type Orphan = Readonly<{ lease_id: string; username: string }>

export type Overview = Readonly<{
  projects: Count
  failing_webhooks?: Count
  due?: ReadonlyArray<DueSecret>
  more_due?: boolean
  waiting?: Count
  data: ReadonlyArray<ProjectOverview>
  pagination: Readonly<{ limit: Count; has_next: boolean; next_cursor: string | null }>
}>

export type OwnDelegation = Readonly<{
  id: string
  name: string
  org: string
  project: string
  env: string
  also?: ReadonlyArray<DelegatedEnvironment>
  permission: DelegatedPermission
  reveal: boolean
  keys?: ReadonlyArray<string>
  expires_at: Timestamp
}>

export type Passkey = Readonly<{ id: string; name: string; created_at: Timestamp; last_used_at: Timestamp | null }>

export type PasskeyRecovery = "login" | "none"

export type Pattern = string

export type Permission = "use" | "read" | "write" | "admin"

export type Placement =
  | Readonly<{ in: "header"; name: string; format: string }>
  | Readonly<{ in: "query"; name: string }>
  | Readonly<{ in: "basic"; user: string }>
  | Readonly<{ in: "hmac-sha256"; header: string; format: string }>
  | Readonly<{ in: "aws-sigv4"; service: string; region: string; access_key_id: string }>

export type Previews = Readonly<{
  from: string
  pattern: string
  max: number
  longest: string
  updated_by: string
  updated_at: Timestamp
}>

export type Project = Readonly<{
  id: string
  name: string
  strict?: boolean
  order?: ReadonlyArray<string>
  created_at: Timestamp
  updated_at: Timestamp
}>

export type ProjectOverview = Readonly<{
  project: string
  environments: Count
  keys: Count
  changed_at: Timestamp | null
  changed_by: string | null
}>

export type ProjectRevision = Readonly<{
  env: string
  revision: Count
  created_at: Timestamp
  created_by: string | null
  keys: ReadonlyArray<RevisionKey>
  request_id?: string
  approved_by?: ReadonlyArray<string>
  note?: string
}>

export type ProjectRevisions = Page<ProjectRevision>

export type Protection = Readonly<{
  needed: number
  approvers: "owners" | "admins" | ReadonlyArray<string>
  self: boolean
  break_glass: ReadonlyArray<Email>
  expires_after: string
  passkey: boolean
  without_voters?: ReadonlyArray<Email>
  stuck?: boolean
  version: Count
  updated_by: string
  updated_at: Timestamp
  etag?: string
}>

export type ProvenSession = Readonly<{ session_id: string; passkey_at: Timestamp }>

export type ProviderGroup = string

export type ProviderLogout = Readonly<{ provider_logout_url: string }>

export type PublicKeys = Readonly<{ keys: ReadonlyArray<Readonly<Record<string, unknown>>> }>

export type PushResult = Readonly<{ target: string; revision: Count; pushed: Count; removed: Count; left: Count }>

export type RegistrationOptions = Readonly<{
  challenge: string
  timeout: Count
  rp: Readonly<{ id: string; name: string }>
  user: Readonly<{ id: string; name: string; displayName: string }>
  pubKeyCredParams: ReadonlyArray<Readonly<{ alg: Int; type: "public-key" }>>
  excludeCredentials: ReadonlyArray<CredentialDescriptor>
  authenticatorSelection: Readonly<{ residentKey: "preferred"; userVerification: "required" }>
  attestation: "none"
}>

export type RegistrationResponse = Readonly<{
  id: string
  response: Readonly<{ clientDataJSON: string; attestationObject: string; transports?: ReadonlyArray<string> }>
}>

export type Removed = Readonly<{
  id: string
  name: string
  protected?: boolean
  removed_by: string
  removed_at: Timestamp
  restorable_until: Timestamp
}>

export type RequestKind = "access" | "change"

export type RequestPage = Page<ApprovalRequest>

export type RequestState = "pending" | "done" | "refused" | "withdrawn" | "expired" | "outdated"

export type RequestVote = Readonly<{ by: string; vote: Vote; comment?: string; created_at: Timestamp }>

export type RequestedChange = "created" | "updated" | "deleted" | "undeleted" | "destroyed" | "due" | "use_rule"

export type RequestedKey = Readonly<{ key: string; change: RequestedChange; version: Count }>

export type RequestedValue = Readonly<{ key: string; value: string }>

export type RequiredIn = "*" | ReadonlyArray<string>

export type ResourceType =
  | "user"
  | "session"
  | "org"
  | "member"
  | "project"
  | "env"
  | "secret"
  | "acl_rule"
  | "group"
  | "service_account"
  | "delegation"
  | "passkey"
  | "federation"
  | "webhook"
  | "use_rule"
  | "connection"
  | "target"
  | "rotation"
  | "lease_role"
  | "lease"
  | "approval"
  | "protection"
  | "request"
  | "backup"
  | "server"

export type Restore = Readonly<{ id: string; path: string; size_bytes: Int; counts: BackupCounts }>

export type Revision = Readonly<{
  revision: Count
  created_at: Timestamp
  created_by: string | null
  keys: ReadonlyArray<RevisionKey>
  request_id?: string
  approved_by?: ReadonlyArray<string>
  note?: string
}>

export type RevisionChange = "created" | "updated" | "deleted" | "undeleted"

export type RevisionKey = Readonly<{ key: string; version: Count; change: RevisionChange }>

export type Role = "member" | "developer" | "admin" | "owner"

export type Rotation = Readonly<{
  name: string
  connection: string
  users: ReadonlyArray<string>
  writes: Readonly<Record<string, string>>
  every: string
  window: RotationWindow | null
  length: number
  alphabet: string
  state: RotationState
  next_user: string
  due_at: Timestamp
  rotated_at: Timestamp | null
  failures: Count
  problem: string | null
  paused: string | null
  created_by: string
  created_at: Timestamp
  updated_at: Timestamp
}>

export type RotationState = "idle" | "drawn" | "changed" | "proved" | "written"

export type RotationWindow = Readonly<{
  days: ReadonlyArray<"mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun">
  from: string
  to: string
  zone: string
}>

export type Scim = Readonly<{
  enabled: boolean
  path: string
  domains: ReadonlyArray<string>
  tokens: ReadonlyArray<ScimToken>
  users: Count
  groups: Count
}>

export type ScimToken = Readonly<{
  hint: string
  created_by: string
  created_at: Timestamp
  last_used_at: Timestamp | null
  expires_at?: Timestamp
}>

export type ScimWithToken = Readonly<{
  enabled: boolean
  path: string
  domains: ReadonlyArray<string>
  tokens: ReadonlyArray<ScimToken>
  users: Count
  groups: Count
  token: string
}>

export type SecretChange = Readonly<{ key: string; version: Count; change: Change }>

export type SecretDestroyed = Readonly<{ data: ReadonlyArray<SecretVersion>; erased: Erased }>

export type SecretDifference = Readonly<{ key: string; status: Difference }>

export type SecretKind = "text" | "reference"

export type SecretListed = Readonly<{
  key: string
  version: Count
  updated_at: Timestamp
  removed_at?: Timestamp
  removed_by?: string | null
  expires_at?: Timestamp
  rotate_every_days?: Count
  owner?: Email
  turn_at?: Timestamp
  due_at?: Timestamp
}>

export type SecretPlace = Readonly<{ env: string; key: string }>

export type SecretRead = Readonly<{ key: string; value: string; version: Count; kind?: SecretKind }>

export type SecretReferences = Readonly<{
  kind: SecretKind
  refers_to: ReadonlyArray<SecretPlace>
  referred_by: ReadonlyArray<SecretPlace>
  hidden: Count
}>

export type SecretValues = Readonly<Record<string, string>>

export type SecretVersion = Readonly<{
  version: Count
  created_at: Timestamp
  created_by: string
  current: boolean
  destroyed: boolean
  kind?: SecretKind
  same?: boolean | null
  bytes_up_to?: Count
}>

export type SecretWritten = Readonly<{
  key: string
  version: Count
  created_at: Timestamp
  updated_at: Timestamp
  warnings?: ReadonlyArray<KeyWarning>
}>

export type SentCounts = Readonly<{
  projects: Count
  environments: Count
  secrets: Count
  versions: Count
  use_rules: Count
  declared: Count
  fields?: ArchivedFieldCounts
}>

export type ServerFacts = Readonly<{
  uses: boolean
  renewal?: boolean
  backups: boolean
  org_creation: OrgCreation
  trash_days?: Count
}>

export type ServerSetting = Readonly<{ variable: string; value: string | null; source: string; group?: string }>

export type ServerSettings = Readonly<{ data: ReadonlyArray<ServerSetting>; usage?: ServerUsage }>

export type ServerUsage = Readonly<{
  database_bytes: Count
  organizations: Count
  people: Count
  superadmins: Count
  disabled: Count
}>

export type ServiceAccount = Readonly<{
  id: string
  name: string
  project: string | null
  reveal: boolean
  allowed_networks?: ReadonlyArray<string>
  network_notes?: ReadonlyArray<string>
  key_hint: string
  expires_at: Timestamp | null
  created_by: string
  created_at: Timestamp
  last_used_at: Timestamp | null
  usage?: Usage
  etag?: string
}>

export type ServiceAccountIdentity = Readonly<{
  id: string
  type: "service_account"
  name: string
  org: string
  project: string | null
  is_superadmin: false
  via?: string
}>

export type ServiceAccountWithKey = Readonly<{
  id: string
  name: string
  project: string | null
  reveal: boolean
  allowed_networks?: ReadonlyArray<string>
  network_notes?: ReadonlyArray<string>
  key_hint: string
  expires_at: Timestamp | null
  created_by: string
  created_at: Timestamp
  last_used_at: Timestamp | null
  usage?: Usage
  etag?: string
  api_key: string
}>

export type Session = Readonly<{
  id: string
  created_at: Timestamp
  last_used_at: Timestamp
  ip_address: string | null
  program?: string
  machine?: string
  user_agent?: string
  passkey_at?: Timestamp
  current: boolean
}>

export type StoreField = Readonly<{ pointer: string; key: string }>

export type SubjectType = "user" | "service_account"

export type Target = Readonly<{
  name: string
  kind: TargetKind
  place: Readonly<Record<string, string>>
  credential_key: string
  prefix: string | null
  keys: ReadonlyArray<string>
  rename: Readonly<Record<string, string>>
  remove: TargetRemoval
  pushed_revision: Count | null
  pushed_at: Timestamp | null
  owned: Count
  automatic: TargetAutomation
  pushes_as: string | null
  failures: Count
  problem: string | null
  retry_at: Timestamp | null
  paused: string | null
  state: TargetState | null
  checked_at: Timestamp | null
  created_by: string
  created_at: Timestamp
}>

export type TargetAutomation = "off" | "push" | "repair"

export type TargetChange = Readonly<{ name: string; key: string | null; change: TargetChangeKind; reason?: string }>

export type TargetChangeKind = "new" | "changed" | "same" | "theirs" | "removed" | "refused"

export type TargetCheck = Readonly<{
  target: string
  state: TargetState
  checked_at: Timestamp
  data: ReadonlyArray<TargetKeyState>
}>

export type TargetKeyState = Readonly<{ name: string; key: string; state: TargetState }>

export type TargetKind =
  | "vault"
  | "github-actions"
  | "gitlab"
  | "kubernetes"
  | "aws-secrets-manager"
  | "aws-parameter-store"
  | "vercel"
  | "cloudflare"

export type TargetPlan = Readonly<{ target: string; revision: Count; plan: string; data: ReadonlyArray<TargetChange> }>

export type TargetRemoval = "own" | "never"

export type TargetState = "in step" | "changed there" | "missing there" | "unknown"

export type Timestamp = string

export type UnusedAccessMail = "never" | "monthly"

export type Usage = "unused" | "unknown"

export type Use = Readonly<{
  key: string
  hosts: ReadonlyArray<string>
  methods: ReadonlyArray<string>
  paths: ReadonlyArray<string>
  response: "status" | "json" | "text" | "stream"
  max_kib: number
  approval: "none" | "each"
  left_this_minute: number
  left_today: number
  expires_at: Timestamp | null
  place?: Placement
}>

export type UseResponse = Readonly<{
  status: number
  headers: Readonly<Record<string, string>>
  body?: string
  body_base64?: string
  truncated: boolean
  scrubbed: number
  stored?: Readonly<{ key: string; version: Count }>
}>

export type UseRule = Readonly<{
  id: string
  key: string
  hosts: ReadonlyArray<string>
  methods: ReadonlyArray<string>
  paths: ReadonlyArray<string>
  place: Placement
  accounts: ReadonlyArray<string>
  per_minute: number
  per_day: number
  response: "status" | "json" | "text" | "stream"
  max_kib: number
  approval: "none" | "each"
  expires_at: string | null
  created_by: string
  created_at: Timestamp
  updated_at: Timestamp
}>

export type User = Readonly<{
  id: string
  type: "user"
  email: Email
  name: string
  is_superadmin: boolean
  delegation?: OwnDelegation
}>

export type UserPage = Page<UserRecord>

export type UserRecord = Readonly<{
  id: string
  email: Email
  name: string
  is_superadmin: boolean
  disabled_at: Timestamp | null
  created_at: Timestamp
  last_seen_at: Timestamp | null
  organizations: Count
  sessions: Count
}>

export type Vote = "approve" | "refuse"

export type Webhook = Readonly<{
  id: string
  url: string
  events: ReadonlyArray<string>
  environments: ReadonlyArray<string>
  format?: WebhookFormat
  enabled: boolean
  failed_at: Timestamp | null
  pending: Count
  old_key_until: Timestamp | null
  failing?: WebhookFailing
  created_by: string
  created_at: Timestamp
  updated_at: Timestamp
  etag?: string
}>

export type WebhookDelivery = Readonly<{
  id: string
  kind: DeliveryKind
  event: WebhookEvent
  state: DeliveryState
  tries: Count
  status: Count | null
  reason: DeliveryReason | null
  next_try_at: Timestamp | null
  created_at: Timestamp
  updated_at: Timestamp
}>

export type WebhookDeliveryPage = Page<WebhookDelivery>

export type WebhookEvent = Readonly<{
  event: string
  id: string
  time: Timestamp
  organization: string
  project: string | null
  environment: string | null
  key: string | null
  version: Count | null
  subject: string | null
  due_at: Timestamp | null
  actor: string
}>

export type WebhookFailing = Readonly<{
  since: Timestamp
  tries: Count
  status: Count | null
  reason: string | null
  next_try_at: Timestamp | null
}>

export type WebhookFormat = "coffer" | "slack" | "discord" | "teams" | "ntfy"

export type WebhookUrl = string

export type WebhookWithKey = Readonly<{
  id: string
  url: string
  events: ReadonlyArray<string>
  environments: ReadonlyArray<string>
  format?: WebhookFormat
  enabled: boolean
  failed_at: Timestamp | null
  pending: Count
  old_key_until: Timestamp | null
  failing?: WebhookFailing
  created_by: string
  created_at: Timestamp
  updated_at: Timestamp
  etag?: string
  signing_key: string
}>
