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

export interface Contract {
  readonly acl: {
    /** Grant a permission by pattern. */
    readonly grant: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string }
          readonly payload:
            | {
                readonly subject_type: "user"
                readonly email: Email
                readonly project_pattern: Pattern
                readonly env_pattern: Pattern
                readonly permission: Permission
                readonly expires_at?: string
              }
            | {
                readonly subject_type: "service_account"
                readonly subject_id: string
                readonly project_pattern: Pattern
                readonly env_pattern: Pattern
                readonly permission: Permission
                readonly expires_at?: string
              }
            | {
                readonly subject_type: "group"
                readonly group: string
                readonly project_pattern: Pattern
                readonly env_pattern: Pattern
                readonly permission: Permission
                readonly expires_at?: string
              }
        }
      ]
      readonly response: AclRule
      readonly error: "Forbidden" | "LimitExceeded" | "Reauthenticate" | "Unauthorized"
    }
    /** List access rules. */
    readonly list: {
      readonly request: [request: { readonly path: { readonly org_name: string } }]
      readonly response: { readonly data: ReadonlyArray<AclRule> }
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Show what a subject may do in an environment, and why. */
    readonly explain: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string }
          readonly urlParams: {
            readonly subject_type: SubjectType
            readonly email?: Email
            readonly subject_id?: string
            readonly project: string
            readonly env: string
          }
        }
      ]
      readonly response: AclExplanation
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Show what a subject may do in each environment, and why. */
    readonly access: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string }
          readonly urlParams?: { readonly subject?: string; readonly limit?: number; readonly after?: string }
        }
      ]
      readonly response: AccessPage
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Revoke an access rule. */
    readonly revoke: {
      readonly request: [request: { readonly path: { readonly org_name: string; readonly rule_id: string } }]
      readonly response: void
      readonly error: "Forbidden" | "Unauthorized"
    }
  }
  readonly approvals: {
    /** List requests with secrets that wait for a person. */
    readonly list: {
      readonly request: [request: { readonly path: { readonly org_name: string } }]
      readonly response: { readonly data: ReadonlyArray<Approval> }
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Approve a request with a secret. */
    readonly approve: {
      readonly request: [request: { readonly path: { readonly org_name: string; readonly approval_id: string } }]
      readonly response: Approval
      readonly error: "Conflict" | "Forbidden" | "Reauthenticate" | "Unauthorized"
    }
    /** Refuse a request with a secret. */
    readonly refuse: {
      readonly request: [request: { readonly path: { readonly org_name: string; readonly approval_id: string } }]
      readonly response: Approval
      readonly error: "Conflict" | "Forbidden" | "Unauthorized"
    }
  }
  readonly audit: {
    /** Read an organization's audit log, newest first. */
    readonly list: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string }
          readonly urlParams?: {
            readonly action?: string
            readonly actor?: string
            readonly actor_id?: string
            readonly resource_type?: string
            readonly project?: string
            readonly env?: string
            readonly key?: string
            readonly since?: string
            readonly until?: string
            readonly limit?: number
            readonly after?: string
          }
        }
      ]
      readonly response: AuditPage
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Check that no entry of an organization's log was changed, removed or inserted. */
    readonly verify: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string }
          readonly urlParams?: { readonly from_seq?: number; readonly seq?: number; readonly chain?: string }
        }
      ]
      readonly response: AuditVerification
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Count an organization's entries over time, by action and by actor. */
    readonly activity: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string }
          readonly urlParams?: {
            readonly action?: string
            readonly actor?: string
            readonly actor_id?: string
            readonly resource_type?: string
            readonly project?: string
            readonly env?: string
            readonly key?: string
            readonly since?: string
            readonly until?: string
            readonly spans?: number
          }
        }
      ]
      readonly response: AuditActivity
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Read all audit logs, including those of removed organizations. */
    readonly listAll: {
      readonly request: [
        request?: {
          readonly urlParams?: {
            readonly action?: string
            readonly actor?: string
            readonly actor_id?: string
            readonly resource_type?: string
            readonly project?: string
            readonly env?: string
            readonly key?: string
            readonly since?: string
            readonly until?: string
            readonly limit?: number
            readonly after?: string
            readonly org_id?: string
          }
        }
      ]
      readonly response: AuditPage
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Check the log of entries without an organization, or that of one organization. */
    readonly verifyAll: {
      readonly request: [
        request?: {
          readonly urlParams?: {
            readonly from_seq?: number
            readonly seq?: number
            readonly chain?: string
            readonly org_id?: string
          }
        }
      ]
      readonly response: AuditVerification
      readonly error: "Forbidden" | "Unauthorized"
    }
  }
  readonly auth: {
    /** Show the ways to log in. */
    readonly methods: {
      readonly request: []
      readonly response: LoginMethods
      readonly error: never
    }
    /** Ask for a login code by e-mail. */
    readonly login: {
      readonly request: [request: { readonly payload: { readonly email: Email } }]
      readonly response: { readonly message: string }
      readonly error: "Forbidden" | "RateLimited"
    }
    /** Exchange a login code for a session. */
    readonly verify: {
      readonly request: [
        request: {
          readonly payload: {
            readonly email: Email
            readonly code: LoginCode
            readonly session?: "token" | "cookie"
            readonly machine?: string
          }
        }
      ]
      readonly response: { readonly token: string } | void
      readonly error: "Forbidden" | "InvalidCode" | "LockedOut"
    }
    /** Begin a login that a person approves in a browser. */
    readonly device: {
      readonly request: [request: { readonly payload: { readonly machine?: string } }]
      readonly response: DeviceLogin
      readonly error: "Forbidden" | "RateLimited"
    }
    /** Exchange an approved login for a session token. */
    readonly token: {
      readonly request: [
        request: {
          readonly payload: {
            readonly device_code?: DeviceCode
            readonly code?: LoopbackCode
            readonly verifier?: CodeVerifier
          }
        }
      ]
      readonly response: { readonly token: string }
      readonly error: "AuthorizationPending" | "Forbidden" | "InvalidCode" | "SlowDown"
    }
    /** Sign a service account in with a token of a federation's issuer. */
    readonly federate: {
      readonly request: [request: { readonly payload: { readonly token: string; readonly account: AccountReference } }]
      readonly response: { readonly token: string; readonly expires_at: Timestamp }
      readonly error: "IssuerUnavailable" | "RateLimited" | "Unauthorized"
    }
    /** End the current session. */
    readonly logout: {
      readonly request: []
      readonly response: ProviderLogout | void
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Show the owner of the credential. */
    readonly me: {
      readonly request: []
      readonly response: User | ServiceAccountIdentity
      readonly error: "Unauthorized"
    }
    /** List the caller's own sessions. */
    readonly sessions: {
      readonly request: []
      readonly response: { readonly data: ReadonlyArray<Session> }
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** End all of the caller's sessions. */
    readonly endSessions: {
      readonly request: [request?: { readonly urlParams?: { readonly others?: "1" } }]
      readonly response: void
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** End one of the caller's sessions. */
    readonly endSession: {
      readonly request: [request: { readonly path: { readonly session_id: string } }]
      readonly response: void
      readonly error: "Forbidden" | "Unauthorized"
    }
  }
  readonly backups: {
    /** Back up the database now. */
    readonly create: {
      readonly request: []
      readonly response: Backup
      readonly error: "BackupFailed" | "BackupsDisabled" | "Forbidden" | "Reauthenticate" | "Unauthorized"
    }
    /** List backups. */
    readonly list: {
      readonly request: []
      readonly response: BackupList
      readonly error: "BackupFailed" | "BackupsDisabled" | "Forbidden" | "Unauthorized"
    }
    /** Decrypt a backup into a file beside the database. */
    readonly restore: {
      readonly request: [request: { readonly path: { readonly backup_id: string } }]
      readonly response: Restore
      readonly error:
        | "BackupFailed"
        | "BackupsDisabled"
        | "Conflict"
        | "DecryptionFailed"
        | "Forbidden"
        | "Reauthenticate"
        | "Unauthorized"
    }
    /** Restore a backup into a temporary file and check all of it. */
    readonly drill: {
      readonly request: [request: { readonly payload: { readonly backup_id?: string } }]
      readonly response: Drill
      readonly error: "BackupFailed" | "BackupsDisabled" | "Conflict" | "Forbidden" | "Reauthenticate" | "Unauthorized"
    }
  }
  readonly declared: {
    /** List the keys that a project declares. */
    readonly list: {
      readonly request: [request: { readonly path: { readonly org_name: string; readonly project_name: string } }]
      readonly response: { readonly data: ReadonlyArray<DeclaredKey> }
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Show what a project declares of a key. */
    readonly get: {
      readonly request: [
        request: { readonly path: { readonly org_name: string; readonly project_name: string; readonly key: string } }
      ]
      readonly response: DeclaredKey
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Declare a key, or replace what is declared of it. */
    readonly set: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly project_name: string; readonly key: string }
          readonly payload: {
            readonly required_in?: RequiredIn
            readonly pattern?: string
            readonly description?: string
            readonly example?: string
            readonly owner?: string
          }
        }
      ]
      readonly response: DeclaredKey
      readonly error: "Forbidden" | "LimitExceeded" | "Unauthorized"
    }
    /** Declare a key no longer. */
    readonly delete: {
      readonly request: [
        request: { readonly path: { readonly org_name: string; readonly project_name: string; readonly key: string } }
      ]
      readonly response: void
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Compare an environment with what its project declares, without returning values. */
    readonly check: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly project_name: string; readonly env_name: string }
        }
      ]
      readonly response: KeyCheck
      readonly error: "DecryptionFailed" | "Forbidden" | "LimitExceeded" | "Unauthorized"
    }
  }
  readonly delegations: {
    /** Delegate a part of one's rights to an agent or a script. */
    readonly create: {
      readonly request: [
        request: {
          readonly payload: {
            readonly name: string
            readonly org: string
            readonly project: string
            readonly env: string
            readonly permission: "use" | "read" | "write"
            readonly keys?: ReadonlyArray<string>
            readonly reveal?: boolean
            readonly expires_in: number
          }
        }
      ]
      readonly response: NewDelegation
      readonly error: "Forbidden" | "LimitExceeded" | "Reauthenticate" | "Unauthorized"
    }
    /** List the caller's own delegations. */
    readonly list: {
      readonly request: []
      readonly response: { readonly data: ReadonlyArray<Delegation> }
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Revoke one of the caller's delegations. */
    readonly revoke: {
      readonly request: [request: { readonly path: { readonly delegation_id: string } }]
      readonly response: void
      readonly error: "Forbidden" | "Unauthorized"
    }
  }
  readonly dues: {
    /** Set when a secret is due, and its owner. */
    readonly update: {
      readonly request: [
        request: {
          readonly path: {
            readonly org_name: string
            readonly project_name: string
            readonly env_name: string
            readonly key: string
          }
          readonly payload: {
            readonly expires_at?: string | null
            readonly rotate_every_days?: number | null
            readonly owner?: Email | null
          }
        }
      ]
      readonly response: SecretListed
      readonly error:
        "ApprovalRequired" | "ChangeRequested" | "DecryptionFailed" | "Forbidden" | "LimitExceeded" | "Unauthorized"
    }
    /** List the secrets of an organization that are due, without returning values. */
    readonly list: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string }
          readonly urlParams?: { readonly within?: string; readonly limit?: number; readonly after?: string }
        }
      ]
      readonly response: DuePage
      readonly error: "Forbidden" | "Unauthorized"
    }
  }
  readonly environments: {
    /** Create an environment, empty or as a copy of another. */
    readonly create: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly project_name: string }
          readonly payload: {
            readonly name: string
            readonly from?: string
            readonly keys?: ReadonlyArray<string>
            readonly expires_at?: string
          }
        }
      ]
      readonly response: Environment
      readonly error:
        | "ApprovalRequired"
        | "ChangeRequested"
        | "Conflict"
        | "DecryptionFailed"
        | "Forbidden"
        | "LimitExceeded"
        | "PatternBroken"
        | "ReferenceRefused"
        | "Unauthorized"
        | "UseWidens"
    }
    /** List environments. */
    readonly list: {
      readonly request: [request: { readonly path: { readonly org_name: string; readonly project_name: string } }]
      readonly response: { readonly data: ReadonlyArray<Environment> }
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Set when an environment ends. */
    readonly extend: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly project_name: string; readonly env_name: string }
          readonly payload: { readonly expires_at: string | null }
        }
      ]
      readonly response: Environment
      readonly error:
        "ApprovalRequired" | "ChangeRequested" | "Forbidden" | "LimitExceeded" | "Reauthenticate" | "Unauthorized"
    }
    /** Remove an environment. */
    readonly delete: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly project_name: string; readonly env_name: string }
          readonly urlParams?: { readonly force?: "1" }
        }
      ]
      readonly response: void
      readonly error:
        | "ApprovalRequired"
        | "ChangeRequested"
        | "Conflict"
        | "Forbidden"
        | "LimitExceeded"
        | "Reauthenticate"
        | "Unauthorized"
    }
    /** Compare the keys of all environments of a project, without returning values. */
    readonly matrix: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly project_name: string }
          readonly urlParams?: { readonly envs?: string; readonly format?: "full" | "compact" }
        }
      ]
      readonly response: Matrix | CompactMatrix
      readonly error: "Forbidden" | "RateLimited" | "Unauthorized"
    }
    /** Read every secret of an environment. */
    readonly bundle: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly project_name: string; readonly env_name: string }
          readonly urlParams?: { readonly keys?: string; readonly format?: "list" | "object"; readonly raw?: "1" }
        }
      ]
      readonly response: Bundle | BundleObject
      readonly error: "DecryptionFailed" | "Forbidden" | "ReferenceRefused" | "Unauthorized"
    }
    /** Write and delete secrets of an environment, all or nothing. */
    readonly writeBundle: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly project_name: string; readonly env_name: string }
          readonly payload: {
            readonly set?: SecretValues
            readonly references?: SecretValues
            readonly delete?: ReadonlyArray<string>
            readonly force?: boolean
            readonly note?: string
            readonly dry_run?: boolean
          }
        }
      ]
      readonly response: BundleWritten
      readonly error:
        | "ApprovalRequired"
        | "ChangeRequested"
        | "Conflict"
        | "DecryptionFailed"
        | "Forbidden"
        | "LimitExceeded"
        | "PatternBroken"
        | "ReferenceRefused"
        | "Unauthorized"
        | "UseWidens"
    }
    /** Copy secrets from another environment, without returning values. */
    readonly copy: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly project_name: string; readonly env_name: string }
          readonly payload: { readonly from: string; readonly keys?: ReadonlyArray<string>; readonly dry_run?: boolean }
        }
      ]
      readonly response: BundleWritten
      readonly error:
        | "ApprovalRequired"
        | "ChangeRequested"
        | "Conflict"
        | "DecryptionFailed"
        | "Forbidden"
        | "LimitExceeded"
        | "PatternBroken"
        | "ReferenceRefused"
        | "Unauthorized"
        | "UseWidens"
    }
    /** Compare the keys of two environments, without returning values. */
    readonly diff: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly project_name: string; readonly env_name: string }
          readonly urlParams: { readonly with: string; readonly resolved?: "1" }
        }
      ]
      readonly response: Diff
      readonly error: "DecryptionFailed" | "Forbidden" | "RateLimited" | "ReferenceRefused" | "Unauthorized"
    }
    /** List the changes of an environment, newest first, without values. */
    readonly revisions: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly project_name: string; readonly env_name: string }
          readonly urlParams?: { readonly limit?: number; readonly before?: number }
        }
      ]
      readonly response: { readonly data: ReadonlyArray<Revision> }
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Revert an environment to a revision, without returning values. */
    readonly revert: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly project_name: string; readonly env_name: string }
          readonly payload: { readonly to: Count; readonly force?: boolean; readonly dry_run?: boolean }
        }
      ]
      readonly response: BundleWritten
      readonly error:
        | "ApprovalRequired"
        | "ChangeRequested"
        | "Conflict"
        | "DecryptionFailed"
        | "Forbidden"
        | "LimitExceeded"
        | "ReferenceRefused"
        | "Unauthorized"
        | "UseWidens"
    }
  }
  readonly exports: {
    /** Ask to take an organization out. */
    readonly create: {
      readonly request: [
        request: { readonly path: { readonly org_name: string }; readonly payload: { readonly versions?: boolean } }
      ]
      readonly response: OrganizationExport
      readonly error: "Forbidden" | "LimitExceeded" | "Reauthenticate" | "Unauthorized"
    }
    /** List exports that have not ended. */
    readonly list: {
      readonly request: [request: { readonly path: { readonly org_name: string } }]
      readonly response: { readonly data: ReadonlyArray<OrganizationExport> }
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Show an export. */
    readonly get: {
      readonly request: [request: { readonly path: { readonly org_name: string; readonly export_id: string } }]
      readonly response: OrganizationExport
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** End an export. */
    readonly end: {
      readonly request: [request: { readonly path: { readonly org_name: string; readonly export_id: string } }]
      readonly response: void
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Approve another owner's export. */
    readonly approve: {
      readonly request: [request: { readonly path: { readonly org_name: string; readonly export_id: string } }]
      readonly response: OrganizationExport
      readonly error: "Conflict" | "Forbidden" | "Reauthenticate" | "Unauthorized"
    }
    /** Read the structure of an organization that is exported. */
    readonly structure: {
      readonly request: [request: { readonly path: { readonly org_name: string; readonly export_id: string } }]
      readonly response: ExportedStructure
      readonly error: "ApprovalNeeded" | "Forbidden" | "LimitExceeded" | "Unauthorized"
    }
    /** Read the declared keys of a project that is exported. */
    readonly declared: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly export_id: string }
          readonly urlParams: { readonly project: string }
        }
      ]
      readonly response: ArchivedDeclarations
      readonly error: "ApprovalNeeded" | "Forbidden" | "Unauthorized"
    }
    /** Read secrets of an environment that is exported. */
    readonly secrets: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly export_id: string }
          readonly urlParams: { readonly project: string; readonly env: string; readonly after?: string }
        }
      ]
      readonly response: ExportedVersions
      readonly error: "ApprovalNeeded" | "DecryptionFailed" | "Forbidden" | "Unauthorized"
    }
  }
  readonly federations: {
    /** Let a service account sign in with an issuer's tokens. */
    readonly create: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly sa_id: string }
          readonly payload: {
            readonly name: string
            readonly issuer: Issuer
            readonly jwks?: PublicKeys
            readonly conditions: Conditions
            readonly max_age?: number
            readonly ttl?: number
            readonly expires_at?: string
          }
        }
      ]
      readonly response: Federation
      readonly error: "Conflict" | "Forbidden" | "LimitExceeded" | "Reauthenticate" | "Unauthorized"
    }
    /** List the federations of a service account. */
    readonly list: {
      readonly request: [request: { readonly path: { readonly org_name: string; readonly sa_id: string } }]
      readonly response: { readonly data: ReadonlyArray<Federation> }
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Try a token against the federations of a service account. */
    readonly try: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly sa_id: string }
          readonly payload: { readonly token: string }
        }
      ]
      readonly response: FederationTrial
      readonly error: "Forbidden" | "IssuerUnavailable" | "RateLimited" | "Unauthorized"
    }
    /** Revoke a federation and its sessions. */
    readonly revoke: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly sa_id: string; readonly federation_id: string }
        }
      ]
      readonly response: void
      readonly error: "Forbidden" | "Unauthorized"
    }
  }
  readonly groups: {
    /** Create a group. */
    readonly create: {
      readonly request: [
        request: { readonly path: { readonly org_name: string }; readonly payload: { readonly name: string } }
      ]
      readonly response: Group
      readonly error: "Conflict" | "Forbidden" | "LimitExceeded" | "Unauthorized"
    }
    /** List groups. */
    readonly list: {
      readonly request: [request: { readonly path: { readonly org_name: string } }]
      readonly response: { readonly data: ReadonlyArray<Group> }
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Show a group. */
    readonly get: {
      readonly request: [request: { readonly path: { readonly org_name: string; readonly group_name: string } }]
      readonly response: Group
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Rename a group. */
    readonly rename: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly group_name: string }
          readonly payload: { readonly name: string }
        }
      ]
      readonly response: Group
      readonly error: "Conflict" | "Forbidden" | "Reauthenticate" | "Unauthorized"
    }
    /** Remove a group and its access rules. */
    readonly remove: {
      readonly request: [request: { readonly path: { readonly org_name: string; readonly group_name: string } }]
      readonly response: void
      readonly error: "Forbidden" | "Reauthenticate" | "Unauthorized"
    }
    /** List the members of a group. */
    readonly members: {
      readonly request: [request: { readonly path: { readonly org_name: string; readonly group_name: string } }]
      readonly response: { readonly data: ReadonlyArray<GroupMember> }
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Set all members of a group. */
    readonly setMembers: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly group_name: string }
          readonly payload: { readonly emails: ReadonlyArray<string> }
        }
      ]
      readonly response: Group
      readonly error: "Forbidden" | "Reauthenticate" | "Unauthorized"
    }
    /** Add a member to a group. */
    readonly addMember: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly group_name: string }
          readonly payload: { readonly email: Email }
        }
      ]
      readonly response: GroupMember
      readonly error: "Forbidden" | "LimitExceeded" | "Reauthenticate" | "Unauthorized"
    }
    /** Remove a member from a group. */
    readonly removeMember: {
      readonly request: [
        request: { readonly path: { readonly org_name: string; readonly group_name: string; readonly user_id: string } }
      ]
      readonly response: void
      readonly error: "Conflict" | "Forbidden" | "Unauthorized"
    }
    /** List group mappings of the identity provider. */
    readonly mappings: {
      readonly request: [request: { readonly path: { readonly org_name: string } }]
      readonly response: GroupMappings
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Set group mappings of the identity provider. */
    readonly setMappings: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string }
          readonly payload: {
            readonly mappings: ReadonlyArray<{ readonly provider_group: string; readonly group: string }>
          }
        }
      ]
      readonly response: GroupMappings
      readonly error: "Forbidden" | "Reauthenticate" | "Unauthorized"
    }
  }
  readonly history: {
    /** List the changes of all environments of a project, newest first, without values. */
    readonly list: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly project_name: string }
          readonly urlParams?: { readonly limit?: number; readonly after?: string }
        }
      ]
      readonly response: ProjectRevisions
      readonly error: "Forbidden" | "Unauthorized"
    }
  }
  readonly imports: {
    /** Start to import an organization. */
    readonly create: {
      readonly request: [request: { readonly payload: { readonly name: string; readonly organization: string } }]
      readonly response: OrganizationImport
      readonly error: "Conflict" | "Forbidden" | "LimitExceeded" | "Reauthenticate" | "Unauthorized"
    }
    /** Import declared keys of a project. */
    readonly declared: {
      readonly request: [
        request: {
          readonly path: { readonly import_id: string }
          readonly payload: { readonly project: string; readonly data: ReadonlyArray<ArchivedDeclaration> }
        }
      ]
      readonly response: void
      readonly error: "Conflict" | "Forbidden" | "LimitExceeded" | "Unauthorized"
    }
    /** Import secrets of an environment. */
    readonly secrets: {
      readonly request: [
        request: {
          readonly path: { readonly import_id: string }
          readonly payload: {
            readonly project: string
            readonly env: string
            readonly data: ReadonlyArray<ArchivedVersion>
          }
        }
      ]
      readonly response: void
      readonly error: "Conflict" | "DecryptionFailed" | "Forbidden" | "LimitExceeded" | "Unauthorized"
    }
    /** Verify an imported organization, and make it visible. */
    readonly finish: {
      readonly request: [
        request: {
          readonly path: { readonly import_id: string }
          readonly payload: { readonly counts: SentCounts; readonly name?: string }
        }
      ]
      readonly response: ImportFinished
      readonly error:
        "Conflict" | "DecryptionFailed" | "Forbidden" | "LimitExceeded" | "ReferenceRefused" | "Unauthorized"
    }
    /** Give up an import. */
    readonly abandon: {
      readonly request: [request: { readonly path: { readonly import_id: string } }]
      readonly response: void
      readonly error: "Forbidden" | "Unauthorized"
    }
  }
  readonly keys: {
    /** Find keys by a part of their name, without returning values. */
    readonly find: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string }
          readonly urlParams: { readonly query: string; readonly limit?: number; readonly after?: string }
        }
      ]
      readonly response: FoundKeyPage
      readonly error: "Forbidden" | "Unauthorized"
    }
  }
  readonly members: {
    /** Invite a person by e-mail. */
    readonly invite: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string }
          readonly payload: { readonly email: Email; readonly role?: Role }
        }
      ]
      readonly response: Member
      readonly error: "Conflict" | "Forbidden" | "LimitExceeded" | "Reauthenticate" | "Unauthorized"
    }
    /** List members and their roles. */
    readonly list: {
      readonly request: [request: { readonly path: { readonly org_name: string } }]
      readonly response: { readonly data: ReadonlyArray<Member> }
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Change a member's role. */
    readonly setRole: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly user_id: string }
          readonly payload: { readonly role: Role }
        }
      ]
      readonly response: Member
      readonly error: "Conflict" | "Forbidden" | "LastOwner" | "Reauthenticate" | "Unauthorized"
    }
    /** Remove a member and their access rules. */
    readonly remove: {
      readonly request: [request: { readonly path: { readonly org_name: string; readonly user_id: string } }]
      readonly response: void
      readonly error: "Conflict" | "Forbidden" | "LastOwner" | "Reauthenticate" | "Unauthorized"
    }
    /** Leave an organization, or decline an invitation. */
    readonly leave: {
      readonly request: [request: { readonly path: { readonly org_name: string } }]
      readonly response: void
      readonly error: "Conflict" | "Forbidden" | "LastOwner" | "Reauthenticate" | "Unauthorized"
    }
  }
  readonly organizations: {
    /** Create an organization. */
    readonly create: {
      readonly request: [request: { readonly payload: { readonly name: string } }]
      readonly response: Organization
      readonly error:
        "ApprovalRequired" | "ChangeRequested" | "Conflict" | "Forbidden" | "LimitExceeded" | "Unauthorized"
    }
    /** List the caller's organizations. */
    readonly list: {
      readonly request: []
      readonly response: { readonly data: ReadonlyArray<Organization> }
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Show an organization. */
    readonly get: {
      readonly request: [request: { readonly path: { readonly org_name: string } }]
      readonly response: Organization
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Rename an organization, or change its settings. */
    readonly update: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string }
          readonly payload: { readonly name?: string; readonly passkey_recovery?: "login" | "none" }
        }
      ]
      readonly response: Organization
      readonly error:
        | "ApprovalRequired"
        | "ChangeRequested"
        | "Conflict"
        | "Forbidden"
        | "LimitExceeded"
        | "Reauthenticate"
        | "Unauthorized"
    }
    /** Remove an organization. */
    readonly delete: {
      readonly request: [request: { readonly path: { readonly org_name: string } }]
      readonly response: void
      readonly error:
        "ApprovalRequired" | "ChangeRequested" | "Forbidden" | "LimitExceeded" | "Reauthenticate" | "Unauthorized"
    }
  }
  readonly overview: {
    /** Show how much is in each project of an organization, and its last change. */
    readonly show: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string }
          readonly urlParams?: { readonly limit?: number; readonly after?: string }
        }
      ]
      readonly response: Overview
      readonly error: "Forbidden" | "Unauthorized"
    }
  }
  readonly passkeys: {
    /** List the caller's own passkeys. */
    readonly list: {
      readonly request: []
      readonly response: { readonly data: ReadonlyArray<Passkey> }
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Register a passkey. */
    readonly create: {
      readonly request: [
        request: { readonly payload: { readonly name: string; readonly credential: RegistrationResponse } }
      ]
      readonly response: Passkey
      readonly error: "Conflict" | "Forbidden" | "InvalidCode" | "LimitExceeded" | "Reauthenticate" | "Unauthorized"
    }
    /** Begin to register a passkey. */
    readonly options: {
      readonly request: []
      readonly response: RegistrationOptions
      readonly error: "Forbidden" | "LimitExceeded" | "Reauthenticate" | "Unauthorized"
    }
    /** Remove one of the caller's passkeys. */
    readonly delete: {
      readonly request: [request: { readonly path: { readonly passkey_id: string } }]
      readonly response: void
      readonly error: "Forbidden" | "Reauthenticate" | "Unauthorized"
    }
    /** Begin a proof with a passkey. */
    readonly challenge: {
      readonly request: [request: { readonly payload: { readonly session_id?: string } }]
      readonly response: AssertionOptions
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Prove a session with a passkey. */
    readonly verify: {
      readonly request: [request: { readonly payload: { readonly credential: AssertionResponse } }]
      readonly response: ProvenSession
      readonly error: "Forbidden" | "InvalidCode" | "Unauthorized"
    }
  }
  readonly previews: {
    /** Show what previews a project allows. */
    readonly get: {
      readonly request: [request: { readonly path: { readonly org_name: string; readonly project_name: string } }]
      readonly response: Previews
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Allow previews in a project. */
    readonly set: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly project_name: string }
          readonly payload: {
            readonly from: string
            readonly pattern: Pattern
            readonly max?: number
            readonly longest?: string
          }
        }
      ]
      readonly response: Previews
      readonly error: "Forbidden" | "Reauthenticate" | "Unauthorized"
    }
    /** Allow no previews in a project any more. */
    readonly remove: {
      readonly request: [request: { readonly path: { readonly org_name: string; readonly project_name: string } }]
      readonly response: void
      readonly error: "Forbidden" | "Reauthenticate" | "Unauthorized"
    }
  }
  readonly projects: {
    /** Create a project. */
    readonly create: {
      readonly request: [
        request: { readonly path: { readonly org_name: string }; readonly payload: { readonly name: string } }
      ]
      readonly response: Project
      readonly error:
        "ApprovalRequired" | "ChangeRequested" | "Conflict" | "Forbidden" | "LimitExceeded" | "Unauthorized"
    }
    /** List projects. */
    readonly list: {
      readonly request: [request: { readonly path: { readonly org_name: string } }]
      readonly response: { readonly data: ReadonlyArray<Project> }
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Show a project. */
    readonly get: {
      readonly request: [request: { readonly path: { readonly org_name: string; readonly project_name: string } }]
      readonly response: Project
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Rename a project, make it strict, or order its environments. */
    readonly rename: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly project_name: string }
          readonly payload: {
            readonly name?: string
            readonly strict?: boolean
            readonly order?: ReadonlyArray<string>
          }
        }
      ]
      readonly response: Project
      readonly error:
        | "ApprovalRequired"
        | "ChangeRequested"
        | "Conflict"
        | "Forbidden"
        | "LimitExceeded"
        | "Reauthenticate"
        | "Unauthorized"
    }
    /** Remove a project. */
    readonly delete: {
      readonly request: [request: { readonly path: { readonly org_name: string; readonly project_name: string } }]
      readonly response: void
      readonly error:
        "ApprovalRequired" | "ChangeRequested" | "Forbidden" | "LimitExceeded" | "Reauthenticate" | "Unauthorized"
    }
  }
  readonly protections: {
    /** Show how an environment is protected. */
    readonly get: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly project_name: string; readonly env_name: string }
        }
      ]
      readonly response: Protection
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Protect an environment. */
    readonly set: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly project_name: string; readonly env_name: string }
          readonly payload: {
            readonly needed: number
            readonly approvers: "owners" | "admins" | ReadonlyArray<string>
            readonly self?: boolean
            readonly break_glass?: ReadonlyArray<string>
            readonly expires_after?: string
            readonly passkey?: boolean
          }
        }
      ]
      readonly response: Protection
      readonly error:
        | "ApprovalRequired"
        | "ChangeRequested"
        | "Conflict"
        | "Forbidden"
        | "LimitExceeded"
        | "Reauthenticate"
        | "Unauthorized"
    }
    /** End the protection of an environment. */
    readonly remove: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly project_name: string; readonly env_name: string }
        }
      ]
      readonly response: void
      readonly error:
        | "ApprovalRequired"
        | "ChangeRequested"
        | "Conflict"
        | "Forbidden"
        | "LimitExceeded"
        | "Reauthenticate"
        | "Unauthorized"
    }
  }
  readonly requests: {
    /** Ask for access to an environment for a while. */
    readonly create: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string }
          readonly payload: {
            readonly kind: "access"
            readonly project: string
            readonly env: string
            readonly permission: Permission
            readonly expires_in: number
            readonly reason: string
          }
        }
      ]
      readonly response: ApprovalRequest
      readonly error: "Conflict" | "Forbidden" | "LimitExceeded" | "Unauthorized"
    }
    /** List requests for access and for changes. */
    readonly list: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string }
          readonly urlParams?: {
            readonly state?: "pending" | "done" | "refused" | "withdrawn" | "expired" | "outdated"
            readonly kind?: "access" | "change"
            readonly limit?: number
            readonly after?: string
          }
        }
      ]
      readonly response: RequestPage
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Show a request, without values. */
    readonly get: {
      readonly request: [request: { readonly path: { readonly org_name: string; readonly request_id: string } }]
      readonly response: ApprovalRequest
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Read the values that a pending change sets. */
    readonly values: {
      readonly request: [request: { readonly path: { readonly org_name: string; readonly request_id: string } }]
      readonly response: { readonly data: ReadonlyArray<RequestedValue> }
      readonly error: "Conflict" | "DecryptionFailed" | "Forbidden" | "Unauthorized"
    }
    /** Approve a request. */
    readonly approve: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly request_id: string }
          readonly payload: { readonly comment?: string }
        }
      ]
      readonly response: ApprovalRequest
      readonly error: "Conflict" | "Forbidden" | "Reauthenticate" | "Unauthorized"
    }
    /** Refuse a request. */
    readonly refuse: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly request_id: string }
          readonly payload: { readonly comment?: string }
        }
      ]
      readonly response: ApprovalRequest
      readonly error: "Conflict" | "Forbidden" | "Reauthenticate" | "Unauthorized"
    }
    /** Withdraw one's own request. */
    readonly withdraw: {
      readonly request: [request: { readonly path: { readonly org_name: string; readonly request_id: string } }]
      readonly response: ApprovalRequest
      readonly error: "Conflict" | "Forbidden" | "Unauthorized"
    }
  }
  readonly secrets: {
    /** Write a new version of a secret. */
    readonly set: {
      readonly request: [
        request: {
          readonly path: {
            readonly org_name: string
            readonly project_name: string
            readonly env_name: string
            readonly key: string
          }
          readonly payload: {
            readonly value: string
            readonly kind?: "text" | "reference"
            readonly expected_version?: Count
          }
        }
      ]
      readonly response: SecretWritten
      readonly error:
        | "ApprovalRequired"
        | "ChangeRequested"
        | "Conflict"
        | "DecryptionFailed"
        | "Forbidden"
        | "LimitExceeded"
        | "PatternBroken"
        | "ReferenceRefused"
        | "Unauthorized"
        | "UseWidens"
    }
    /** Read the current or an earlier version of a secret. */
    readonly get: {
      readonly request: [
        request: {
          readonly path: {
            readonly org_name: string
            readonly project_name: string
            readonly env_name: string
            readonly key: string
          }
          readonly urlParams?: { readonly version?: number; readonly raw?: "1" }
        }
      ]
      readonly response: SecretRead
      readonly error: "DecryptionFailed" | "Forbidden" | "ReferenceRefused" | "Unauthorized"
    }
    /** Remove a secret. */
    readonly delete: {
      readonly request: [
        request: {
          readonly path: {
            readonly org_name: string
            readonly project_name: string
            readonly env_name: string
            readonly key: string
          }
          readonly urlParams?: { readonly expected_version?: number; readonly force?: "1" }
        }
      ]
      readonly response: void
      readonly error:
        | "ApprovalRequired"
        | "ChangeRequested"
        | "Conflict"
        | "DecryptionFailed"
        | "Forbidden"
        | "LimitExceeded"
        | "Unauthorized"
    }
    /** List keys, without returning values. */
    readonly list: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly project_name: string; readonly env_name: string }
          readonly urlParams?: {
            readonly due_within?: string
            readonly removed?: "1"
            readonly key?: string
            readonly limit?: number
            readonly after?: string
          }
        }
      ]
      readonly response: {
        readonly data: ReadonlyArray<SecretListed>
        readonly pagination?: { readonly limit: Count; readonly has_next: boolean; readonly next_cursor: string | null }
      }
      readonly error: "DecryptionFailed" | "Forbidden" | "Unauthorized"
    }
    /** List what a secret refers to and what refers to it, without values. */
    readonly references: {
      readonly request: [
        request: {
          readonly path: {
            readonly org_name: string
            readonly project_name: string
            readonly env_name: string
            readonly key: string
          }
        }
      ]
      readonly response: SecretReferences
      readonly error: "DecryptionFailed" | "Forbidden" | "Unauthorized"
    }
    /** List a secret's versions, newest first, without values. */
    readonly versions: {
      readonly request: [
        request: {
          readonly path: {
            readonly org_name: string
            readonly project_name: string
            readonly env_name: string
            readonly key: string
          }
          readonly urlParams?: { readonly limit?: number; readonly before?: number; readonly compare?: "1" }
        }
      ]
      readonly response: { readonly data: ReadonlyArray<SecretVersion> }
      readonly error: "DecryptionFailed" | "Forbidden" | "RateLimited" | "Unauthorized"
    }
    /** Restore an earlier value as a new version, without returning it. */
    readonly rollback: {
      readonly request: [
        request: {
          readonly path: {
            readonly org_name: string
            readonly project_name: string
            readonly env_name: string
            readonly key: string
          }
          readonly payload: { readonly version: Count; readonly expected_version?: Count }
        }
      ]
      readonly response: SecretWritten
      readonly error:
        | "ApprovalRequired"
        | "ChangeRequested"
        | "Conflict"
        | "DecryptionFailed"
        | "Forbidden"
        | "LimitExceeded"
        | "ReferenceRefused"
        | "Unauthorized"
        | "UseWidens"
    }
    /** Restore a removed secret with its versions. */
    readonly undelete: {
      readonly request: [
        request: {
          readonly path: {
            readonly org_name: string
            readonly project_name: string
            readonly env_name: string
            readonly key: string
          }
        }
      ]
      readonly response: SecretWritten
      readonly error:
        | "ApprovalRequired"
        | "ChangeRequested"
        | "Conflict"
        | "DecryptionFailed"
        | "Forbidden"
        | "LimitExceeded"
        | "ReferenceRefused"
        | "Unauthorized"
        | "UseWidens"
    }
    /** Erase earlier versions permanently. */
    readonly destroy: {
      readonly request: [
        request: {
          readonly path: {
            readonly org_name: string
            readonly project_name: string
            readonly env_name: string
            readonly key: string
          }
          readonly payload: { readonly versions: ReadonlyArray<Count> }
        }
      ]
      readonly response: SecretDestroyed
      readonly error:
        | "ApprovalRequired"
        | "ChangeRequested"
        | "Conflict"
        | "DecryptionFailed"
        | "Forbidden"
        | "LimitExceeded"
        | "Reauthenticate"
        | "Unauthorized"
    }
  }
  readonly server: {
    /** Show what this server offers. */
    readonly show: {
      readonly request: []
      readonly response: ServerFacts
      readonly error: "Unauthorized"
    }
    /** List the server's settings and where they come from. */
    readonly settings: {
      readonly request: []
      readonly response: ServerSettings
      readonly error: "Forbidden" | "Unauthorized"
    }
  }
  readonly serviceAccounts: {
    /** Create a service account. */
    readonly create: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string }
          readonly payload: {
            readonly name: string
            readonly project?: string
            readonly reveal?: boolean
            readonly key?: boolean
            readonly allowed_networks?: ReadonlyArray<string>
            readonly expires_in_days?: number
          }
        }
      ]
      readonly response: NewServiceAccount
      readonly error: "Conflict" | "Forbidden" | "LimitExceeded" | "Reauthenticate" | "Unauthorized"
    }
    /** List service accounts. */
    readonly list: {
      readonly request: [request: { readonly path: { readonly org_name: string } }]
      readonly response: { readonly data: ReadonlyArray<ServiceAccount> }
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Change the networks that a service account may call from. */
    readonly update: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly sa_id: string }
          readonly payload: { readonly allowed_networks?: ReadonlyArray<string> | null }
        }
      ]
      readonly response: ServiceAccount
      readonly error: "Conflict" | "Forbidden" | "Reauthenticate" | "Unauthorized"
    }
    /** Revoke a service account and its access rules. */
    readonly revoke: {
      readonly request: [request: { readonly path: { readonly org_name: string; readonly sa_id: string } }]
      readonly response: void
      readonly error: "Forbidden" | "Reauthenticate" | "Unauthorized"
    }
    /** Give a service account a new key, or its first one. */
    readonly rotate: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly sa_id: string }
          readonly payload: { readonly grace_seconds?: number }
        }
      ]
      readonly response: ServiceAccountWithKey
      readonly error: "Forbidden" | "LimitExceeded" | "Reauthenticate" | "Unauthorized"
    }
  }
  readonly system: {
    /** Check that the server is up. */
    readonly health: {
      readonly request: []
      readonly response: Health
      readonly error: never
    }
    /** Check that the database responds and the audit log can be written. */
    readonly ready: {
      readonly request: []
      readonly response: Health
      readonly error: "NotReady"
    }
    /** Get this API definition as OpenAPI. */
    readonly openApi: {
      readonly request: []
      readonly response: Readonly<Record<string, unknown>>
      readonly error: never
    }
  }
  readonly trash: {
    /** List removed organizations. */
    readonly organizations: {
      readonly request: [request?: { readonly urlParams?: { readonly name?: string } }]
      readonly response: { readonly data: ReadonlyArray<Removed> }
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Restore a removed organization. */
    readonly restoreOrganization: {
      readonly request: [
        request: { readonly path: { readonly removed_id: string }; readonly payload: { readonly name?: string } }
      ]
      readonly response: Organization
      readonly error: "Conflict" | "Forbidden" | "Reauthenticate" | "Unauthorized"
    }
    /** Erase a removed organization for good. */
    readonly eraseOrganization: {
      readonly request: [
        request: { readonly path: { readonly removed_id: string }; readonly payload: { readonly name: string } }
      ]
      readonly response: void
      readonly error: "ApprovalRequired" | "Forbidden" | "Reauthenticate" | "Unauthorized"
    }
    /** List removed projects. */
    readonly projects: {
      readonly request: [
        request: { readonly path: { readonly org_name: string }; readonly urlParams?: { readonly name?: string } }
      ]
      readonly response: { readonly data: ReadonlyArray<Removed> }
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Restore a removed project. */
    readonly restoreProject: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly removed_id: string }
          readonly payload: { readonly name?: string }
        }
      ]
      readonly response: Project
      readonly error:
        | "ApprovalRequired"
        | "ChangeRequested"
        | "Conflict"
        | "Forbidden"
        | "LimitExceeded"
        | "Reauthenticate"
        | "Unauthorized"
    }
    /** Erase a removed project for good. */
    readonly eraseProject: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly removed_id: string }
          readonly payload: { readonly name: string }
        }
      ]
      readonly response: void
      readonly error:
        "ApprovalRequired" | "ChangeRequested" | "Forbidden" | "LimitExceeded" | "Reauthenticate" | "Unauthorized"
    }
    /** List removed environments. */
    readonly environments: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly project_name: string }
          readonly urlParams?: { readonly name?: string }
        }
      ]
      readonly response: { readonly data: ReadonlyArray<Removed> }
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Restore a removed environment. */
    readonly restoreEnvironment: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly project_name: string; readonly removed_id: string }
          readonly payload: { readonly name?: string }
        }
      ]
      readonly response: Environment
      readonly error:
        | "ApprovalRequired"
        | "ChangeRequested"
        | "Conflict"
        | "Forbidden"
        | "LimitExceeded"
        | "Reauthenticate"
        | "Unauthorized"
    }
    /** Erase a removed environment for good. */
    readonly eraseEnvironment: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly project_name: string; readonly removed_id: string }
          readonly payload: { readonly name: string }
        }
      ]
      readonly response: void
      readonly error:
        "ApprovalRequired" | "ChangeRequested" | "Forbidden" | "LimitExceeded" | "Reauthenticate" | "Unauthorized"
    }
  }
  readonly use: {
    /** List what the caller may use, without values. */
    readonly uses: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly project_name: string; readonly env_name: string }
        }
      ]
      readonly response: { readonly data: ReadonlyArray<Use> }
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Make a request with secrets, without seeing them. */
    readonly use: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly project_name: string; readonly env_name: string }
          readonly payload: {
            readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE"
            readonly url: string
            readonly headers?: Readonly<Record<string, string>>
            readonly body?: string
            readonly body_base64?: string
            readonly secrets: ReadonlyArray<string>
          }
        }
      ]
      readonly response: UseResponse
      readonly error:
        | "ApprovalNeeded"
        | "BrokerDisabled"
        | "DecryptionFailed"
        | "Forbidden"
        | "LimitExceeded"
        | "Unauthorized"
        | "UpstreamFailed"
        | "UseBudget"
        | "UseRefused"
    }
  }
  readonly useRules: {
    /** List the use rules of a secret. */
    readonly list: {
      readonly request: [
        request: {
          readonly path: {
            readonly org_name: string
            readonly project_name: string
            readonly env_name: string
            readonly key: string
          }
        }
      ]
      readonly response: { readonly data: ReadonlyArray<UseRule> }
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Let accounts use a secret without seeing it. */
    readonly create: {
      readonly request: [
        request: {
          readonly path: {
            readonly org_name: string
            readonly project_name: string
            readonly env_name: string
            readonly key: string
          }
          readonly payload: {
            readonly hosts: ReadonlyArray<string>
            readonly paths: ReadonlyArray<string>
            readonly place: Placement
            readonly accounts: ReadonlyArray<string>
            readonly methods?: ReadonlyArray<string>
            readonly per_minute?: number
            readonly per_day?: number
            readonly response?: "status" | "json" | "text"
            readonly max_kib?: number
            readonly approval?: "none" | "each"
            readonly expires_at?: string | null
          }
        }
      ]
      readonly response: UseRule
      readonly error:
        "ApprovalRequired" | "ChangeRequested" | "Forbidden" | "LimitExceeded" | "Reauthenticate" | "Unauthorized"
    }
    /** Change a use rule. */
    readonly update: {
      readonly request: [
        request: {
          readonly path: {
            readonly org_name: string
            readonly project_name: string
            readonly env_name: string
            readonly key: string
            readonly use_rule_id: string
          }
          readonly payload: {
            readonly hosts?: ReadonlyArray<string>
            readonly paths?: ReadonlyArray<string>
            readonly place?: Placement
            readonly accounts?: ReadonlyArray<string>
            readonly methods?: ReadonlyArray<string>
            readonly per_minute?: number
            readonly per_day?: number
            readonly response?: "status" | "json" | "text"
            readonly max_kib?: number
            readonly approval?: "none" | "each"
            readonly expires_at?: string | null
          }
        }
      ]
      readonly response: UseRule
      readonly error:
        "ApprovalRequired" | "ChangeRequested" | "Forbidden" | "LimitExceeded" | "Reauthenticate" | "Unauthorized"
    }
    /** Remove a use rule. */
    readonly delete: {
      readonly request: [
        request: {
          readonly path: {
            readonly org_name: string
            readonly project_name: string
            readonly env_name: string
            readonly key: string
            readonly use_rule_id: string
          }
        }
      ]
      readonly response: void
      readonly error: "ApprovalRequired" | "ChangeRequested" | "Forbidden" | "LimitExceeded" | "Unauthorized"
    }
  }
  readonly users: {
    /** List all users, by e-mail. */
    readonly list: {
      readonly request: [
        request?: {
          readonly urlParams?: {
            readonly email?: string
            readonly disabled?: "true" | "false"
            readonly limit?: number
            readonly after?: string
          }
        }
      ]
      readonly response: UserPage
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Disable a user: sessions and login codes end at once. */
    readonly disable: {
      readonly request: [request: { readonly path: { readonly user_id: string } }]
      readonly response: DisabledUser
      readonly error: "Conflict" | "Forbidden" | "Reauthenticate" | "Unauthorized"
    }
    /** Enable a disabled user. */
    readonly enable: {
      readonly request: [request: { readonly path: { readonly user_id: string } }]
      readonly response: UserRecord
      readonly error: "Forbidden" | "Reauthenticate" | "Unauthorized"
    }
    /** End a user's sessions and pending login code. */
    readonly endSessions: {
      readonly request: [request: { readonly path: { readonly user_id: string } }]
      readonly response: UserRecord
      readonly error: "Forbidden" | "Unauthorized"
    }
  }
  readonly webhooks: {
    /** Create a webhook. */
    readonly create: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string }
          readonly payload: {
            readonly url: WebhookUrl
            readonly events: ReadonlyArray<string>
            readonly environments?: ReadonlyArray<string>
            readonly format?: "coffer" | "slack" | "discord" | "teams" | "ntfy"
          }
        }
      ]
      readonly response: WebhookWithKey
      readonly error: "Forbidden" | "LimitExceeded" | "Reauthenticate" | "Unauthorized"
    }
    /** List the webhooks of an organization. */
    readonly list: {
      readonly request: [request: { readonly path: { readonly org_name: string } }]
      readonly response: { readonly data: ReadonlyArray<Webhook> }
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Read a webhook. */
    readonly get: {
      readonly request: [request: { readonly path: { readonly org_name: string; readonly webhook_id: string } }]
      readonly response: Webhook
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Change, disable or enable a webhook. */
    readonly update: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly webhook_id: string }
          readonly payload: {
            readonly url?: WebhookUrl
            readonly events?: ReadonlyArray<string>
            readonly environments?: ReadonlyArray<string>
            readonly format?: "coffer" | "slack" | "discord" | "teams" | "ntfy"
            readonly enabled?: boolean
            readonly skip?: boolean
          }
        }
      ]
      readonly response: Webhook
      readonly error: "Conflict" | "Forbidden" | "Reauthenticate" | "Unauthorized"
    }
    /** Remove a webhook and its signing keys. */
    readonly delete: {
      readonly request: [request: { readonly path: { readonly org_name: string; readonly webhook_id: string } }]
      readonly response: void
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Replace the signing key of a webhook. */
    readonly rotateKey: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly webhook_id: string }
          readonly payload: { readonly grace_seconds?: number }
        }
      ]
      readonly response: WebhookWithKey
      readonly error: "Forbidden" | "Reauthenticate" | "Unauthorized"
    }
    /** Send a test event to a webhook. */
    readonly test: {
      readonly request: [request: { readonly path: { readonly org_name: string; readonly webhook_id: string } }]
      readonly response: WebhookDelivery
      readonly error: "Forbidden" | "RateLimited" | "Unauthorized"
    }
    /** List the deliveries of a webhook, newest first. */
    readonly deliveries: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly webhook_id: string }
          readonly urlParams?: { readonly limit?: number; readonly after?: string }
        }
      ]
      readonly response: WebhookDeliveryPage
      readonly error: "Forbidden" | "Unauthorized"
    }
    /** Send an event again. */
    readonly sendAgain: {
      readonly request: [
        request: {
          readonly path: { readonly org_name: string; readonly webhook_id: string; readonly delivery_id: string }
        }
      ]
      readonly response: WebhookDelivery
      readonly error: "Forbidden" | "RateLimited" | "Unauthorized"
    }
  }
}

export interface AccessPage {
  readonly data: ReadonlyArray<EnvironmentAccess>
  readonly pagination: { readonly limit: Count; readonly has_next: boolean; readonly next_cursor: string | null }
}

export interface AccessReason {
  readonly permission: OpenPermission
  readonly by: Ground
  readonly role?: string
  readonly rule_id?: string
  readonly group?: string
  readonly expires_at?: Timestamp
  readonly limited_by?: string
  readonly project_pattern?: string
  readonly env_pattern?: string
}

export type AccountReference = string

export interface AclExplanation {
  readonly allowed: ReadonlyArray<OpenPermission>
  readonly because: ReadonlyArray<AclReason>
  readonly via?: string
}

export interface AclReason {
  readonly permission: OpenPermission
  readonly by: Ground
  readonly role?: string
  readonly rule_id?: string
  readonly group?: string
  readonly expires_at?: Timestamp
  readonly limited_by?: string
}

export interface AclRule {
  readonly id: string
  readonly subject_type: OpenSubjectType
  readonly subject_id: string
  readonly email?: Email
  readonly name?: string
  readonly group?: string
  readonly project_pattern: string
  readonly env_pattern: string
  readonly permission: OpenPermission
  readonly expires_at?: Timestamp
  readonly request_id?: string
  readonly created_by: string
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
}

export interface ActivityKind {
  readonly name: string
  readonly entries: Count
  readonly counts: ReadonlyArray<Count>
}

export type ActorType = "user" | "service_account" | "system"

export interface Approval {
  readonly id: string
  readonly state: ApprovalState
  readonly project: string
  readonly env: string
  readonly account: string
  readonly secrets: ReadonlyArray<string>
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE"
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly body_base64?: string
  readonly created_at: Timestamp
  readonly expires_at: Timestamp
}

export interface ApprovalRequest {
  readonly id: string
  readonly kind: RequestKind
  readonly state: RequestState
  readonly project: string
  readonly env: string
  readonly requester: string
  readonly reason?: string
  readonly call?: string
  readonly details?: ReadonlyArray<string>
  readonly keys?: ReadonlyArray<RequestedKey>
  readonly permission?: OpenPermission
  readonly expires_in?: Count
  readonly rule_id?: string
  readonly revision?: Count
  readonly needed: Count
  readonly votes: ReadonlyArray<RequestVote>
  readonly outdated?: ReadonlyArray<string>
  readonly may_vote: boolean
  readonly is_own: boolean
  readonly was_waiting?: boolean
  readonly created_at: Timestamp
  readonly expires_at: Timestamp
  readonly decided_at?: Timestamp
}

export type ApprovalState = "pending" | "approved" | "refused" | "used"

export interface ArchiveCounts {
  readonly projects: Count
  readonly environments: Count
  readonly secrets: Count
  readonly versions: Count
  readonly use_rules: Count
  readonly declared: Count
  readonly members: Count
  readonly groups: Count
  readonly accounts: Count
  readonly rules: Count
  readonly webhooks: Count
  readonly fields?: ArchivedFieldCounts
}

export interface ArchivedAccount {
  readonly name: string
  readonly project?: string
  readonly reveal: boolean
  readonly expires_in_days?: number
  readonly allowed_networks?: ReadonlyArray<string>
  readonly federations: ReadonlyArray<ArchivedFederation>
}

export interface ArchivedCurrentVersion {
  readonly expires_at?: ArchivedTime
  readonly rotate_every_days?: number
  readonly owner?: Email
  readonly use_rules: ReadonlyArray<ArchivedUseRule>
}

export interface ArchivedDeclaration {
  readonly key: string
  readonly required_in?: RequiredIn
  readonly pattern?: string
  readonly description?: string
  readonly example?: string
  readonly owner?: string
}

export interface ArchivedDeclarations {
  readonly data: ReadonlyArray<ArchivedDeclaration>
}

export interface ArchivedFederation {
  readonly name: string
  readonly issuer: Issuer
  readonly jwks?: PublicKeys
  readonly conditions: Conditions
  readonly max_age: number
  readonly ttl: number
  readonly expires_at?: ArchivedTime
}

export interface ArchivedFieldCounts {
  readonly mappings: Count
  readonly "projects.order": Count
  readonly "projects.previews": Count
  readonly "environments.protection": Count
  readonly "environments.expires_at": Count
  readonly "environments.from": Count
  readonly "accounts.project": Count
  readonly "accounts.expires_in_days": Count
  readonly "accounts.allowed_networks": Count
  readonly federations: Count
  readonly "federations.expires_at": Count
  readonly "federations.jwks": Count
  readonly "federations.kid": Count
  readonly "declared.required_in": Count
  readonly "declared.pattern": Count
  readonly "declared.description": Count
  readonly "declared.example": Count
  readonly "declared.owner": Count
  readonly "versions.revision": Count
  readonly "versions.kind": Count
  readonly "versions.note": Count
  readonly "secrets.expires_at": Count
  readonly "secrets.rotate_every_days": Count
  readonly "secrets.owner": Count
}

export interface ArchivedGroup {
  readonly name: string
  readonly members: ReadonlyArray<string>
}

export interface ArchivedMapping {
  readonly provider_group: ProviderGroup
  readonly group: string
}

export interface ArchivedMember {
  readonly email: Email
  readonly role: Role
}

export interface ArchivedOrganization {
  readonly passkey_recovery: "login" | "none"
  readonly members: ReadonlyArray<ArchivedMember>
  readonly groups: ReadonlyArray<ArchivedGroup>
  readonly mappings: ReadonlyArray<ArchivedMapping>
  readonly projects: ReadonlyArray<ArchivedProject>
  readonly accounts: ReadonlyArray<ArchivedAccount>
  readonly rules: ReadonlyArray<ArchivedRule>
  readonly webhooks: ReadonlyArray<ArchivedWebhook>
}

export interface ArchivedPlace {
  readonly name: string
  readonly protection?: ArchivedProtection
  readonly expires_at?: ArchivedTime
  readonly from?: string
}

export interface ArchivedPreviews {
  readonly from: string
  readonly pattern: Pattern
  readonly max?: number
  readonly longest?: string
}

export interface ArchivedProject {
  readonly name: string
  readonly strict: boolean
  readonly order?: ReadonlyArray<string>
  readonly previews?: ArchivedPreviews
  readonly environments: ReadonlyArray<ArchivedPlace>
}

export interface ArchivedProtection {
  readonly needed: number
  readonly approvers: "owners" | "admins" | ReadonlyArray<string>
  readonly self?: boolean
  readonly break_glass?: ReadonlyArray<string>
  readonly expires_after?: string
  readonly passkey?: boolean
}

export interface ArchivedRule {
  readonly subject_type: "user" | "service_account" | "group"
  readonly subject: string
  readonly project_pattern: Pattern
  readonly env_pattern: Pattern
  readonly permission: Permission
  readonly expires_at?: ArchivedTime
}

export type ArchivedTime = string

export interface ArchivedUseRule {
  readonly hosts: ReadonlyArray<string>
  readonly methods: ReadonlyArray<string>
  readonly paths: ReadonlyArray<string>
  readonly place: Placement
  readonly accounts: ReadonlyArray<string>
  readonly per_minute: number
  readonly per_day: number
  readonly response: "status" | "json" | "text"
  readonly max_kib: number
  readonly approval: "none" | "each"
  readonly expires_at: ArchivedTime | null
}

export interface ArchivedVersion {
  readonly key: string
  readonly version: Count
  readonly kind?: "text" | "reference"
  readonly value?: string
  readonly created_at: ArchivedTime
  readonly created_by: string
  readonly revision?: Count
  readonly note?: string
  readonly destroyed_at?: ArchivedTime
  readonly current?: ArchivedCurrentVersion
}

export interface ArchivedWebhook {
  readonly url: WebhookUrl
  readonly events: ReadonlyArray<string>
  readonly environments: ReadonlyArray<string>
  readonly format?: "coffer" | "slack" | "discord" | "teams" | "ntfy"
  readonly enabled: boolean
}

export interface AssertionOptions {
  readonly challenge: string
  readonly timeout: Count
  readonly rpId: string
  readonly allowCredentials: ReadonlyArray<CredentialDescriptor>
  readonly userVerification: "required"
}

export interface AssertionResponse {
  readonly id: string
  readonly response: { readonly clientDataJSON: string; readonly authenticatorData: string; readonly signature: string }
}

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
  | "secret.undelete"
  | "secret.destroy"
  | "secret.decryption_failed"
  | "secret.use"
  | "secret.answer"
  | "use_rule.create"
  | "use_rule.update"
  | "use_rule.delete"
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
  | "group.create"
  | "group.update"
  | "group.delete"
  | "group.member_add"
  | "group.member_remove"
  | "group.members_set"
  | "group.map"
  | "group.login"
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

export interface AuditActivity {
  readonly since: Timestamp
  readonly seconds: number
  readonly complete: boolean
  readonly entries: Count
  readonly counts: ReadonlyArray<Count>
  readonly actions: ReadonlyArray<ActivityKind>
  readonly actors: ReadonlyArray<ActivityKind>
}

export interface AuditEntry {
  readonly id: string
  readonly seq: Count
  readonly actor_type: ActorType
  readonly actor_id: string | null
  readonly actor_name: string
  readonly action: AuditAction
  readonly resource_type: ResourceType
  readonly resource_id: string | null
  readonly org_id: string | null
  readonly ip_address: string | null
  readonly metadata: Readonly<Record<string, unknown>>
  readonly created_at: Timestamp
}

export interface AuditPage {
  readonly data: ReadonlyArray<AuditEntry>
  readonly pagination: {
    readonly total: Count
    readonly at_least?: boolean
    readonly archived?: Count
    readonly limit: Count
    readonly has_next: boolean
    readonly next_cursor: string | null
  }
}

export interface AuditVerification {
  readonly valid: boolean
  readonly entries: Count
  readonly head: { readonly seq: Count; readonly chain: string } | null
  readonly first_invalid_seq: Count | null
  readonly archived?: Count
  readonly missing?: ReadonlyArray<string>
  readonly first_invalid_log?: Count
}

export interface Backup {
  readonly id: string
  readonly created_at: Timestamp
  readonly size_bytes: Int
  readonly trigger: BackupTrigger
  readonly key_fingerprint: string
  readonly instance: string
}

export interface BackupCounts {
  readonly organizations: Int
  readonly projects: Int
  readonly environments: Int
  readonly secrets: Int
  readonly versions: Int
  readonly entries: Int
}

export interface BackupList {
  readonly data: ReadonlyArray<Backup>
  readonly server: BackupServer
}

export interface BackupServer {
  readonly instance: string
  readonly organizations: Int
}

export type BackupTrigger = "manual" | "scheduled"

export interface Bundle {
  readonly revision: Count
  readonly data: ReadonlyArray<BundledSecret>
  readonly errors?: ReadonlyArray<BundleError>
}

export interface BundleError {
  readonly key: string
  readonly code: string
  readonly message: string
}

export type BundleObject = Readonly<Record<string, string>>

export interface BundleWritten {
  readonly revision: Count
  readonly data: ReadonlyArray<SecretChange>
  readonly warnings?: ReadonlyArray<KeyWarning>
}

export interface BundledSecret {
  readonly key: string
  readonly value: string
  readonly version: Count
  readonly updated_at: Timestamp
  readonly kind?: SecretKind
}

export type Change = "created" | "updated" | "unchanged" | "deleted"

export interface ChangeRequested {
  readonly id: string
  readonly kind: RequestKind
  readonly state: RequestState
  readonly project: string
  readonly env: string
  readonly requester: string
  readonly reason?: string
  readonly call?: string
  readonly details?: ReadonlyArray<string>
  readonly keys?: ReadonlyArray<RequestedKey>
  readonly permission?: OpenPermission
  readonly expires_in?: Count
  readonly rule_id?: string
  readonly revision?: Count
  readonly needed: Count
  readonly votes: ReadonlyArray<RequestVote>
  readonly outdated?: ReadonlyArray<string>
  readonly may_vote: boolean
  readonly is_own: boolean
  readonly was_waiting?: boolean
  readonly created_at: Timestamp
  readonly expires_at: Timestamp
  readonly decided_at?: Timestamp
}

export type CodeVerifier = string

export interface CompactFacts {
  readonly row: Count
  readonly cell: Count
  readonly kind?: SecretKind
  readonly expires_at?: Timestamp
  readonly rotate_every_days?: Count
  readonly owner?: Email
  readonly due_at?: Timestamp
}

export interface CompactMatrix {
  readonly environments: ReadonlyArray<MatrixEnvironment>
  readonly others: ReadonlyArray<string>
  readonly writers: ReadonlyArray<string>
  readonly writes: ReadonlyArray<ReadonlyArray<Int>>
  readonly facts: ReadonlyArray<CompactFacts>
  readonly data: ReadonlyArray<CompactRow>
}

export interface CompactRow {
  readonly key: string
  readonly cells: ReadonlyArray<ReadonlyArray<Int | null> | null>
}

export type Conditions = Readonly<Record<string, string>>

export type Count = number

export interface CreatedAccount {
  readonly id: string
  readonly name: string
  readonly org: string
  readonly project: string | null
  readonly created_at: Timestamp
  readonly last_used_at: Timestamp | null
}

export interface CredentialDescriptor {
  readonly id: string
  readonly type: "public-key"
  readonly transports?: ReadonlyArray<string>
}

export interface DeclaredKey {
  readonly key: string
  readonly required_in: RequiredIn
  readonly pattern?: string
  readonly description?: string
  readonly example?: string
  readonly owner?: string
  readonly updated_at: Timestamp
  readonly updated_by: string
}

export type DelegatedPermission = "use" | "read" | "write"

export interface Delegation {
  readonly id: string
  readonly name: string
  readonly org: string
  readonly project: string
  readonly env: string
  readonly permission: DelegatedPermission
  readonly reveal: boolean
  readonly keys?: ReadonlyArray<string>
  readonly expires_at: Timestamp
  readonly created_at: Timestamp
  readonly last_used_at: Timestamp | null
}

export type DeliveryKind = "event" | "test" | "again"

export type DeliveryReason =
  "status" | "url" | "scheme" | "no address" | "address refused" | "certificate" | "connection" | "timeout"

export type DeliveryState = "pending" | "delivered" | "failed" | "skipped"

export type DeviceCode = string

export interface DeviceLogin {
  readonly device_code: DeviceCode
  readonly user_code: string
  readonly verification_uri: string
  readonly verification_uri_complete: string
  readonly expires_in: Count
  readonly interval: Count
}

export interface Diff {
  readonly data: ReadonlyArray<SecretDifference>
}

export type Difference = "only_here" | "only_there" | "same" | "different"

export interface DisabledUser {
  readonly id: string
  readonly email: Email
  readonly name: string
  readonly is_superadmin: boolean
  readonly disabled_at: Timestamp | null
  readonly created_at: Timestamp
  readonly last_seen_at: Timestamp | null
  readonly organizations: Count
  readonly sessions: Count
  readonly service_accounts: ReadonlyArray<CreatedAccount>
}

export interface Drill {
  readonly backup: Backup
  readonly valid: boolean
  readonly problems: ReadonlyArray<string>
  readonly age_seconds: Int
  readonly seconds: number
  readonly counts: BackupCounts | null
}

export interface DuePage {
  readonly data: ReadonlyArray<DueSecret>
  readonly pagination: { readonly limit: Count; readonly has_next: boolean; readonly next_cursor: string | null }
}

export interface DueSecret {
  readonly project: string
  readonly env: string
  readonly key: string
  readonly version: Count
  readonly updated_at: Timestamp
  readonly expires_at?: Timestamp
  readonly rotate_every_days?: Count
  readonly owner?: Email
  readonly due_at: Timestamp
}

export type Email = string

export interface Environment {
  readonly id: string
  readonly name: string
  readonly position?: Count
  readonly protected?: boolean
  readonly expires_at?: Timestamp
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
}

export interface EnvironmentAccess {
  readonly project: string
  readonly env: string
  readonly position?: Count
  readonly permission: OpenPermission | null
  readonly because?: AccessReason
}

export type Erased = "now" | "pending"

export type ExportState = "waiting" | "ready"

export interface ExportedStructure {
  readonly name: string
  readonly server: string
  readonly counts: ArchiveCounts
  readonly organization: ArchivedOrganization
}

export interface ExportedVersions {
  readonly revision: Count
  readonly data: ReadonlyArray<ArchivedVersion>
  readonly next_cursor: string | null
}

export interface Federation {
  readonly id: string
  readonly name: string
  readonly issuer: Issuer
  readonly audience: string
  readonly conditions: Conditions
  readonly key_ids: ReadonlyArray<string | null> | null
  readonly max_age: number
  readonly ttl: number
  readonly expires_at: Timestamp | null
  readonly created_by: string
  readonly created_at: Timestamp
  readonly last_used_at: Timestamp | null
}

export interface FederationTrial {
  readonly takes: string | null
  readonly signed: boolean
  readonly issuer: string | null
  readonly federations: ReadonlyArray<{
    readonly name: string
    readonly failed: ReadonlyArray<{ readonly claim: string; readonly expected: string; readonly found: string | null }>
  }>
}

export interface FoundKey {
  readonly project: string
  readonly env: string
  readonly key: string
  readonly version: Count
  readonly updated_at: Timestamp
  readonly kind?: SecretKind
  readonly declared: boolean
}

export interface FoundKeyPage {
  readonly data: ReadonlyArray<FoundKey>
  readonly pagination: { readonly limit: Count; readonly has_next: boolean; readonly next_cursor: string | null }
}

export type Ground = "superadmin" | "role" | "rule"

export interface Group {
  readonly id: string
  readonly name: string
  readonly members: Count
  readonly rules: Count
  readonly created_by: string
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
}

export interface GroupMapping {
  readonly provider_group: ProviderGroup
  readonly group: string
}

export interface GroupMappings {
  readonly data: ReadonlyArray<GroupMapping>
  readonly claim: string | null
}

export interface GroupMember {
  readonly user_id: string
  readonly email: Email
  readonly name: string
  readonly added_by?: string
  readonly created_at?: Timestamp
  readonly provider_group?: string
  readonly login_ends_at?: Timestamp
}

export interface Health {
  readonly status: "ok"
}

export interface ImportFinished {
  readonly organization: Organization
  readonly counts: ArchiveCounts
  readonly left_out?: ReadonlyArray<string>
}

export type Int = number

export type Issuer = string

export interface KeyCheck {
  readonly declared: Count
  readonly missing: ReadonlyArray<string>
  readonly extra: ReadonlyArray<string>
  readonly breaks: ReadonlyArray<string> | null
}

export type KeyProblem = "breaks_pattern" | "required"

export interface KeyWarning {
  readonly key: string
  readonly problem: KeyProblem
}

export type LoginCode = string

export interface LoginMethods {
  readonly email: boolean
  readonly provider: { readonly name: string; readonly issuer: string } | null
  readonly public_url: string | null
}

export type LoopbackCode = string

export interface Matrix {
  readonly environments: ReadonlyArray<MatrixEnvironment>
  readonly others: ReadonlyArray<string>
  readonly data: ReadonlyArray<MatrixRow>
}

export interface MatrixCell {
  readonly version: Count
  readonly updated_at: Timestamp
  readonly updated_by: string
  readonly same: Count | null
  readonly kind?: SecretKind
  readonly expires_at?: Timestamp
  readonly rotate_every_days?: Count
  readonly owner?: Email
  readonly due_at?: Timestamp
}

export interface MatrixEnvironment {
  readonly name: string
  readonly position?: Count
  readonly protected?: boolean
  readonly expires_at?: Timestamp
  readonly allowed: ReadonlyArray<OpenPermission>
  readonly reveals: boolean
  readonly revision: Count | null
  readonly etag: string | null
}

export interface MatrixRow {
  readonly key: string
  readonly cells: ReadonlyArray<MatrixCell | null>
}

export interface Member {
  readonly user_id: string
  readonly email: Email
  readonly name: string
  readonly role: OpenRole
  readonly created_at: Timestamp
  readonly accepted?: boolean
  readonly has_access?: boolean
  readonly last_seen_at?: Timestamp | null
}

export interface NewDelegation {
  readonly id: string
  readonly name: string
  readonly org: string
  readonly project: string
  readonly env: string
  readonly permission: DelegatedPermission
  readonly reveal: boolean
  readonly keys?: ReadonlyArray<string>
  readonly expires_at: Timestamp
  readonly created_at: Timestamp
  readonly last_used_at: Timestamp | null
  readonly token: string
}

export interface NewServiceAccount {
  readonly id: string
  readonly name: string
  readonly project: string | null
  readonly reveal: boolean
  readonly allowed_networks?: ReadonlyArray<string>
  readonly network_notes?: ReadonlyArray<string>
  readonly key_hint: string
  readonly expires_at: Timestamp | null
  readonly created_by: string
  readonly created_at: Timestamp
  readonly last_used_at: Timestamp | null
  readonly etag?: string
  readonly api_key?: string
}

export type OpenPermission = "use" | "read" | "write" | "admin"

export type OpenRole = "member" | "developer" | "admin" | "owner"

export type OpenSubjectType = "user" | "service_account" | "group"

export type OrgCreation = "anyone" | "superadmin"

export interface Organization {
  readonly id: string
  readonly name: string
  readonly role: OpenRole | null
  readonly accepted?: boolean
  readonly passkey_recovery?: PasskeyRecovery
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
}

export interface OrganizationExport {
  readonly id: string
  readonly state: ExportState
  readonly versions: boolean
  readonly created_by: string
  readonly approved_by?: string
  readonly created_at: Timestamp
  readonly expires_at: Timestamp
}

export interface OrganizationImport {
  readonly id: string
  readonly name: string
  readonly left_out: ReadonlyArray<string>
  readonly created_at: Timestamp
  readonly expires_at: Timestamp
}

export interface Overview {
  readonly projects: Count
  readonly failing_webhooks?: Count
  readonly due?: ReadonlyArray<DueSecret>
  readonly more_due?: boolean
  readonly waiting?: Count
  readonly data: ReadonlyArray<ProjectOverview>
  readonly pagination: { readonly limit: Count; readonly has_next: boolean; readonly next_cursor: string | null }
}

export interface OwnDelegation {
  readonly id: string
  readonly name: string
  readonly org: string
  readonly project: string
  readonly env: string
  readonly permission: DelegatedPermission
  readonly reveal: boolean
  readonly keys?: ReadonlyArray<string>
  readonly expires_at: Timestamp
}

export interface Passkey {
  readonly id: string
  readonly name: string
  readonly created_at: Timestamp
  readonly last_used_at: Timestamp | null
}

export type PasskeyRecovery = "login" | "none"

export type Pattern = string

export type Permission = "use" | "read" | "write" | "admin"

export type Placement =
  | { readonly in: "header"; readonly name: string; readonly format: string }
  | { readonly in: "query"; readonly name: string }
  | { readonly in: "basic"; readonly user: string }
  | { readonly in: "hmac-sha256"; readonly header: string; readonly format: string }
  | { readonly in: "aws-sigv4"; readonly service: string; readonly region: string; readonly access_key_id: string }

export interface Previews {
  readonly from: string
  readonly pattern: string
  readonly max: number
  readonly longest: string
  readonly updated_by: string
  readonly updated_at: Timestamp
}

export interface Project {
  readonly id: string
  readonly name: string
  readonly strict?: boolean
  readonly order?: ReadonlyArray<string>
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
}

export interface ProjectOverview {
  readonly project: string
  readonly environments: Count
  readonly keys: Count
  readonly changed_at: Timestamp | null
  readonly changed_by: string | null
}

export interface ProjectRevision {
  readonly env: string
  readonly revision: Count
  readonly created_at: Timestamp
  readonly created_by: string | null
  readonly keys: ReadonlyArray<RevisionKey>
  readonly request_id?: string
  readonly approved_by?: ReadonlyArray<string>
  readonly note?: string
}

export interface ProjectRevisions {
  readonly data: ReadonlyArray<ProjectRevision>
  readonly pagination: { readonly limit: Count; readonly has_next: boolean; readonly next_cursor: string | null }
}

export interface Protection {
  readonly needed: number
  readonly approvers: "owners" | "admins" | ReadonlyArray<string>
  readonly self: boolean
  readonly break_glass: ReadonlyArray<Email>
  readonly expires_after: string
  readonly passkey: boolean
  readonly without_voters?: ReadonlyArray<Email>
  readonly stuck?: boolean
  readonly version: Count
  readonly updated_by: string
  readonly updated_at: Timestamp
  readonly etag?: string
}

export interface ProvenSession {
  readonly session_id: string
  readonly passkey_at: Timestamp
}

export type ProviderGroup = string

export interface ProviderLogout {
  readonly provider_logout_url: string
}

export interface PublicKeys {
  readonly keys: ReadonlyArray<Readonly<Record<string, unknown>>>
}

export interface RegistrationOptions {
  readonly challenge: string
  readonly timeout: Count
  readonly rp: { readonly id: string; readonly name: string }
  readonly user: { readonly id: string; readonly name: string; readonly displayName: string }
  readonly pubKeyCredParams: ReadonlyArray<{ readonly alg: Int; readonly type: "public-key" }>
  readonly excludeCredentials: ReadonlyArray<CredentialDescriptor>
  readonly authenticatorSelection: { readonly residentKey: "preferred"; readonly userVerification: "required" }
  readonly attestation: "none"
}

export interface RegistrationResponse {
  readonly id: string
  readonly response: {
    readonly clientDataJSON: string
    readonly attestationObject: string
    readonly transports?: ReadonlyArray<string>
  }
}

export interface Removed {
  readonly id: string
  readonly name: string
  readonly protected?: boolean
  readonly removed_by: string
  readonly removed_at: Timestamp
  readonly restorable_until: Timestamp
}

export type RequestKind = "access" | "change"

export interface RequestPage {
  readonly data: ReadonlyArray<ApprovalRequest>
  readonly pagination: { readonly limit: Count; readonly has_next: boolean; readonly next_cursor: string | null }
}

export type RequestState = "pending" | "done" | "refused" | "withdrawn" | "expired" | "outdated"

export interface RequestVote {
  readonly by: string
  readonly vote: Vote
  readonly comment?: string
  readonly created_at: Timestamp
}

export type RequestedChange = "created" | "updated" | "deleted" | "undeleted" | "destroyed" | "due" | "use_rule"

export interface RequestedKey {
  readonly key: string
  readonly change: RequestedChange
  readonly version: Count
}

export interface RequestedValue {
  readonly key: string
  readonly value: string
}

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
  | "approval"
  | "protection"
  | "request"
  | "backup"
  | "server"

export interface Restore {
  readonly id: string
  readonly path: string
  readonly size_bytes: Int
  readonly counts: BackupCounts
}

export interface Revision {
  readonly revision: Count
  readonly created_at: Timestamp
  readonly created_by: string | null
  readonly keys: ReadonlyArray<RevisionKey>
  readonly request_id?: string
  readonly approved_by?: ReadonlyArray<string>
  readonly note?: string
}

export type RevisionChange = "created" | "updated" | "deleted" | "undeleted"

export interface RevisionKey {
  readonly key: string
  readonly version: Count
  readonly change: RevisionChange
}

export type Role = "member" | "developer" | "admin" | "owner"

export interface SecretChange {
  readonly key: string
  readonly version: Count
  readonly change: Change
}

export interface SecretDestroyed {
  readonly data: ReadonlyArray<SecretVersion>
  readonly erased: Erased
}

export interface SecretDifference {
  readonly key: string
  readonly status: Difference
}

export type SecretKind = "text" | "reference"

export interface SecretListed {
  readonly key: string
  readonly version: Count
  readonly updated_at: Timestamp
  readonly removed_at?: Timestamp
  readonly removed_by?: string | null
  readonly expires_at?: Timestamp
  readonly rotate_every_days?: Count
  readonly owner?: Email
  readonly due_at?: Timestamp
}

export interface SecretPlace {
  readonly env: string
  readonly key: string
}

export interface SecretRead {
  readonly key: string
  readonly value: string
  readonly version: Count
  readonly kind?: SecretKind
}

export interface SecretReferences {
  readonly kind: SecretKind
  readonly refers_to: ReadonlyArray<SecretPlace>
  readonly referred_by: ReadonlyArray<SecretPlace>
  readonly hidden: Count
}

export type SecretValues = Readonly<Record<string, string>>

export interface SecretVersion {
  readonly version: Count
  readonly created_at: Timestamp
  readonly created_by: string
  readonly current: boolean
  readonly destroyed: boolean
  readonly kind?: SecretKind
  readonly same?: boolean | null
  readonly bytes_up_to?: Count
}

export interface SecretWritten {
  readonly key: string
  readonly version: Count
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
  readonly warnings?: ReadonlyArray<KeyWarning>
}

export interface SentCounts {
  readonly projects: Count
  readonly environments: Count
  readonly secrets: Count
  readonly versions: Count
  readonly use_rules: Count
  readonly declared: Count
  readonly fields?: ArchivedFieldCounts
}

export interface ServerFacts {
  readonly uses: boolean
  readonly backups: boolean
  readonly org_creation: OrgCreation
  readonly trash_days?: Count
}

export interface ServerSetting {
  readonly variable: string
  readonly value: string | null
  readonly source: string
  readonly group?: string
}

export interface ServerSettings {
  readonly data: ReadonlyArray<ServerSetting>
  readonly usage?: ServerUsage
}

export interface ServerUsage {
  readonly database_bytes: Count
  readonly organizations: Count
  readonly people: Count
  readonly superadmins: Count
  readonly disabled: Count
}

export interface ServiceAccount {
  readonly id: string
  readonly name: string
  readonly project: string | null
  readonly reveal: boolean
  readonly allowed_networks?: ReadonlyArray<string>
  readonly network_notes?: ReadonlyArray<string>
  readonly key_hint: string
  readonly expires_at: Timestamp | null
  readonly created_by: string
  readonly created_at: Timestamp
  readonly last_used_at: Timestamp | null
  readonly etag?: string
}

export interface ServiceAccountIdentity {
  readonly id: string
  readonly type: "service_account"
  readonly name: string
  readonly org: string
  readonly project: string | null
  readonly is_superadmin: false
  readonly via?: string
}

export interface ServiceAccountWithKey {
  readonly id: string
  readonly name: string
  readonly project: string | null
  readonly reveal: boolean
  readonly allowed_networks?: ReadonlyArray<string>
  readonly network_notes?: ReadonlyArray<string>
  readonly key_hint: string
  readonly expires_at: Timestamp | null
  readonly created_by: string
  readonly created_at: Timestamp
  readonly last_used_at: Timestamp | null
  readonly etag?: string
  readonly api_key: string
}

export interface Session {
  readonly id: string
  readonly created_at: Timestamp
  readonly last_used_at: Timestamp
  readonly ip_address: string | null
  readonly program?: string
  readonly machine?: string
  readonly user_agent?: string
  readonly passkey_at?: Timestamp
  readonly current: boolean
}

export type SubjectType = "user" | "service_account"

export type Timestamp = string

export interface Use {
  readonly key: string
  readonly hosts: ReadonlyArray<string>
  readonly methods: ReadonlyArray<string>
  readonly paths: ReadonlyArray<string>
  readonly response: "status" | "json" | "text"
  readonly max_kib: number
  readonly approval: "none" | "each"
  readonly left_this_minute: number
  readonly left_today: number
  readonly expires_at: Timestamp | null
}

export interface UseResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly body_base64?: string
  readonly truncated: boolean
  readonly scrubbed: number
}

export interface UseRule {
  readonly id: string
  readonly key: string
  readonly hosts: ReadonlyArray<string>
  readonly methods: ReadonlyArray<string>
  readonly paths: ReadonlyArray<string>
  readonly place: Placement
  readonly accounts: ReadonlyArray<string>
  readonly per_minute: number
  readonly per_day: number
  readonly response: "status" | "json" | "text"
  readonly max_kib: number
  readonly approval: "none" | "each"
  readonly expires_at: string | null
  readonly created_by: string
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
}

export interface User {
  readonly id: string
  readonly type: "user"
  readonly email: Email
  readonly name: string
  readonly is_superadmin: boolean
  readonly delegation?: OwnDelegation
}

export interface UserPage {
  readonly data: ReadonlyArray<UserRecord>
  readonly pagination: { readonly limit: Count; readonly has_next: boolean; readonly next_cursor: string | null }
}

export interface UserRecord {
  readonly id: string
  readonly email: Email
  readonly name: string
  readonly is_superadmin: boolean
  readonly disabled_at: Timestamp | null
  readonly created_at: Timestamp
  readonly last_seen_at: Timestamp | null
  readonly organizations: Count
  readonly sessions: Count
}

export type Vote = "approve" | "refuse"

export interface Webhook {
  readonly id: string
  readonly url: string
  readonly events: ReadonlyArray<string>
  readonly environments: ReadonlyArray<string>
  readonly format?: WebhookFormat
  readonly enabled: boolean
  readonly failed_at: Timestamp | null
  readonly pending: Count
  readonly old_key_until: Timestamp | null
  readonly failing?: WebhookFailing
  readonly created_by: string
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
  readonly etag?: string
}

export interface WebhookDelivery {
  readonly id: string
  readonly kind: DeliveryKind
  readonly event: WebhookEvent
  readonly state: DeliveryState
  readonly tries: Count
  readonly status: Count | null
  readonly reason: DeliveryReason | null
  readonly next_try_at: Timestamp | null
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
}

export interface WebhookDeliveryPage {
  readonly data: ReadonlyArray<WebhookDelivery>
  readonly pagination: { readonly limit: Count; readonly has_next: boolean; readonly next_cursor: string | null }
}

export interface WebhookEvent {
  readonly event: string
  readonly id: string
  readonly time: Timestamp
  readonly organization: string
  readonly project: string | null
  readonly environment: string | null
  readonly key: string | null
  readonly version: Count | null
  readonly subject: string | null
  readonly due_at: Timestamp | null
  readonly actor: string
}

export interface WebhookFailing {
  readonly since: Timestamp
  readonly tries: Count
  readonly status: Count | null
  readonly reason: string | null
  readonly next_try_at: Timestamp | null
}

export type WebhookFormat = "coffer" | "slack" | "discord" | "teams" | "ntfy"

export type WebhookUrl = string

export interface WebhookWithKey {
  readonly id: string
  readonly url: string
  readonly events: ReadonlyArray<string>
  readonly environments: ReadonlyArray<string>
  readonly format?: WebhookFormat
  readonly enabled: boolean
  readonly failed_at: Timestamp | null
  readonly pending: Count
  readonly old_key_until: Timestamp | null
  readonly failing?: WebhookFailing
  readonly created_by: string
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
  readonly etag?: string
  readonly signing_key: string
}
