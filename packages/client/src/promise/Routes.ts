/** Written by scripts/calls.mjs from the contract: change that, then run npm run generate. */
import type { ApiTag, Contract } from "./Contract.js"

/** The method and path of each call. */
export const routes: { readonly [Group in keyof Contract]: { readonly [Name in keyof Contract[Group]]: string } } = {
  acl: {
    grant: "POST /api/orgs/{org_name}/acl",
    list: "GET /api/orgs/{org_name}/acl",
    explain: "GET /api/orgs/{org_name}/acl/explain",
    access: "GET /api/orgs/{org_name}/access",
    revoke: "DELETE /api/orgs/{org_name}/acl/{rule_id}"
  },
  approvals: {
    list: "GET /api/orgs/{org_name}/approvals",
    approve: "POST /api/orgs/{org_name}/approvals/{approval_id}/approve",
    refuse: "POST /api/orgs/{org_name}/approvals/{approval_id}/refuse"
  },
  audit: {
    list: "GET /api/orgs/{org_name}/audit-logs",
    verify: "GET /api/orgs/{org_name}/audit-logs/verify",
    activity: "GET /api/orgs/{org_name}/audit-logs/activity",
    listAll: "GET /api/audit-logs",
    verifyAll: "GET /api/audit-logs/verify"
  },
  auth: {
    methods: "GET /api/auth/methods",
    login: "POST /api/auth/login",
    verify: "POST /api/auth/verify",
    device: "POST /api/auth/device",
    token: "POST /api/auth/token",
    federate: "POST /api/auth/federate",
    logout: "DELETE /api/auth/logout",
    me: "GET /api/auth/me",
    sessions: "GET /api/auth/sessions",
    endSessions: "DELETE /api/auth/sessions",
    endSession: "DELETE /api/auth/sessions/{session_id}"
  },
  backups: {
    create: "POST /api/backups",
    list: "GET /api/backups",
    restore: "POST /api/backups/{backup_id}/restore",
    drill: "POST /api/backups/drill"
  },
  declared: {
    list: "GET /api/orgs/{org_name}/projects/{project_name}/declared",
    get: "GET /api/orgs/{org_name}/projects/{project_name}/declared/{key}",
    set: "PUT /api/orgs/{org_name}/projects/{project_name}/declared/{key}",
    delete: "DELETE /api/orgs/{org_name}/projects/{project_name}/declared/{key}",
    check: "GET /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/check"
  },
  delegations: {
    create: "POST /api/auth/delegations",
    list: "GET /api/auth/delegations",
    revoke: "DELETE /api/auth/delegations/{delegation_id}"
  },
  dues: {
    update: "PATCH /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/secrets/{key}",
    list: "GET /api/orgs/{org_name}/secrets/due"
  },
  environments: {
    create: "POST /api/orgs/{org_name}/projects/{project_name}/envs",
    list: "GET /api/orgs/{org_name}/projects/{project_name}/envs",
    extend: "PATCH /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}",
    delete: "DELETE /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}",
    matrix: "GET /api/orgs/{org_name}/projects/{project_name}/matrix",
    bundle: "GET /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/bundle",
    writeBundle: "PATCH /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/bundle",
    copy: "POST /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/copy",
    diff: "GET /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/diff",
    revisions: "GET /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/revisions",
    revert: "POST /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/revert"
  },
  exports: {
    create: "POST /api/orgs/{org_name}/exports",
    list: "GET /api/orgs/{org_name}/exports",
    get: "GET /api/orgs/{org_name}/exports/{export_id}",
    end: "DELETE /api/orgs/{org_name}/exports/{export_id}",
    approve: "POST /api/orgs/{org_name}/exports/{export_id}/approve",
    structure: "GET /api/orgs/{org_name}/exports/{export_id}/structure",
    declared: "GET /api/orgs/{org_name}/exports/{export_id}/declared",
    secrets: "GET /api/orgs/{org_name}/exports/{export_id}/secrets"
  },
  federations: {
    create: "POST /api/orgs/{org_name}/service-accounts/{sa_id}/federations",
    list: "GET /api/orgs/{org_name}/service-accounts/{sa_id}/federations",
    try: "POST /api/orgs/{org_name}/service-accounts/{sa_id}/federations/try",
    revoke: "DELETE /api/orgs/{org_name}/service-accounts/{sa_id}/federations/{federation_id}"
  },
  groups: {
    create: "POST /api/orgs/{org_name}/groups",
    list: "GET /api/orgs/{org_name}/groups",
    get: "GET /api/orgs/{org_name}/groups/{group_name}",
    rename: "PATCH /api/orgs/{org_name}/groups/{group_name}",
    remove: "DELETE /api/orgs/{org_name}/groups/{group_name}",
    members: "GET /api/orgs/{org_name}/groups/{group_name}/members",
    setMembers: "PUT /api/orgs/{org_name}/groups/{group_name}/members",
    addMember: "POST /api/orgs/{org_name}/groups/{group_name}/members",
    removeMember: "DELETE /api/orgs/{org_name}/groups/{group_name}/members/{user_id}",
    mappings: "GET /api/orgs/{org_name}/group-mappings",
    setMappings: "PUT /api/orgs/{org_name}/group-mappings"
  },
  history: {
    list: "GET /api/orgs/{org_name}/projects/{project_name}/revisions"
  },
  imports: {
    create: "POST /api/imports",
    declared: "PUT /api/imports/{import_id}/declared",
    secrets: "PUT /api/imports/{import_id}/secrets",
    finish: "POST /api/imports/{import_id}/finish",
    abandon: "DELETE /api/imports/{import_id}"
  },
  keys: {
    find: "GET /api/orgs/{org_name}/keys"
  },
  members: {
    invite: "POST /api/orgs/{org_name}/members",
    list: "GET /api/orgs/{org_name}/members",
    setRole: "PATCH /api/orgs/{org_name}/members/{user_id}",
    remove: "DELETE /api/orgs/{org_name}/members/{user_id}",
    leave: "DELETE /api/orgs/{org_name}/members/me"
  },
  organizations: {
    create: "POST /api/orgs",
    list: "GET /api/orgs",
    get: "GET /api/orgs/{org_name}",
    update: "PATCH /api/orgs/{org_name}",
    delete: "DELETE /api/orgs/{org_name}"
  },
  overview: {
    show: "GET /api/orgs/{org_name}/overview"
  },
  passkeys: {
    list: "GET /api/auth/passkeys",
    create: "POST /api/auth/passkeys",
    options: "POST /api/auth/passkeys/options",
    delete: "DELETE /api/auth/passkeys/{passkey_id}",
    challenge: "POST /api/auth/passkeys/challenge",
    verify: "POST /api/auth/passkeys/verify"
  },
  previews: {
    get: "GET /api/orgs/{org_name}/projects/{project_name}/previews",
    set: "PUT /api/orgs/{org_name}/projects/{project_name}/previews",
    remove: "DELETE /api/orgs/{org_name}/projects/{project_name}/previews"
  },
  projects: {
    create: "POST /api/orgs/{org_name}/projects",
    list: "GET /api/orgs/{org_name}/projects",
    get: "GET /api/orgs/{org_name}/projects/{project_name}",
    rename: "PATCH /api/orgs/{org_name}/projects/{project_name}",
    delete: "DELETE /api/orgs/{org_name}/projects/{project_name}"
  },
  protections: {
    get: "GET /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/protection",
    set: "PUT /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/protection",
    remove: "DELETE /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/protection"
  },
  requests: {
    create: "POST /api/orgs/{org_name}/requests",
    list: "GET /api/orgs/{org_name}/requests",
    get: "GET /api/orgs/{org_name}/requests/{request_id}",
    values: "GET /api/orgs/{org_name}/requests/{request_id}/values",
    approve: "POST /api/orgs/{org_name}/requests/{request_id}/approve",
    refuse: "POST /api/orgs/{org_name}/requests/{request_id}/refuse",
    withdraw: "POST /api/orgs/{org_name}/requests/{request_id}/withdraw"
  },
  secrets: {
    set: "PUT /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/secrets/{key}",
    get: "GET /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/secrets/{key}",
    delete: "DELETE /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/secrets/{key}",
    list: "GET /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/secrets",
    references: "GET /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/secrets/{key}/references",
    versions: "GET /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/secrets/{key}/versions",
    rollback: "POST /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/secrets/{key}/rollback",
    undelete: "POST /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/secrets/{key}/undelete",
    destroy: "POST /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/secrets/{key}/destroy"
  },
  server: {
    show: "GET /api/server",
    settings: "GET /api/server/settings"
  },
  serviceAccounts: {
    create: "POST /api/orgs/{org_name}/service-accounts",
    list: "GET /api/orgs/{org_name}/service-accounts",
    update: "PATCH /api/orgs/{org_name}/service-accounts/{sa_id}",
    revoke: "DELETE /api/orgs/{org_name}/service-accounts/{sa_id}",
    rotate: "POST /api/orgs/{org_name}/service-accounts/{sa_id}/rotate"
  },
  system: {
    health: "GET /health",
    ready: "GET /health/ready",
    openApi: "GET /openapi.json"
  },
  trash: {
    organizations: "GET /api/trash",
    restoreOrganization: "POST /api/trash/{removed_id}/restore",
    eraseOrganization: "POST /api/trash/{removed_id}/erase",
    projects: "GET /api/orgs/{org_name}/trash",
    restoreProject: "POST /api/orgs/{org_name}/trash/{removed_id}/restore",
    eraseProject: "POST /api/orgs/{org_name}/trash/{removed_id}/erase",
    environments: "GET /api/orgs/{org_name}/projects/{project_name}/trash",
    restoreEnvironment: "POST /api/orgs/{org_name}/projects/{project_name}/trash/{removed_id}/restore",
    eraseEnvironment: "POST /api/orgs/{org_name}/projects/{project_name}/trash/{removed_id}/erase"
  },
  use: {
    uses: "GET /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/uses",
    use: "POST /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/use"
  },
  useRules: {
    list: "GET /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/secrets/{key}/use-rules",
    create: "POST /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/secrets/{key}/use-rules",
    update: "PATCH /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/secrets/{key}/use-rules/{use_rule_id}",
    delete: "DELETE /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/secrets/{key}/use-rules/{use_rule_id}"
  },
  users: {
    list: "GET /api/users",
    disable: "POST /api/users/{user_id}/disable",
    enable: "POST /api/users/{user_id}/enable",
    endSessions: "POST /api/users/{user_id}/end-sessions"
  },
  webhooks: {
    create: "POST /api/orgs/{org_name}/webhooks",
    list: "GET /api/orgs/{org_name}/webhooks",
    get: "GET /api/orgs/{org_name}/webhooks/{webhook_id}",
    update: "PATCH /api/orgs/{org_name}/webhooks/{webhook_id}",
    delete: "DELETE /api/orgs/{org_name}/webhooks/{webhook_id}",
    rotateKey: "POST /api/orgs/{org_name}/webhooks/{webhook_id}/rotate-key",
    test: "POST /api/orgs/{org_name}/webhooks/{webhook_id}/test",
    deliveries: "GET /api/orgs/{org_name}/webhooks/{webhook_id}/deliveries",
    sendAgain: "POST /api/orgs/{org_name}/webhooks/{webhook_id}/deliveries/{delivery_id}/send"
  }
}

/** The errors of the contract by their codes, each with its status. */
export const apiErrors: Readonly<Record<string, readonly [tag: ApiTag, status: number]>> = {
  VALIDATION_ERROR: ["ValidationError", 400],
  UNAUTHORIZED: ["Unauthorized", 401],
  INVALID_CODE: ["InvalidCode", 401],
  AUTHORIZATION_PENDING: ["AuthorizationPending", 400],
  FORBIDDEN: ["Forbidden", 403],
  USE_REFUSED: ["UseRefused", 403],
  REAUTHENTICATE: ["Reauthenticate", 403],
  NOT_FOUND: ["NotFound", 404],
  METHOD_NOT_ALLOWED: ["MethodNotAllowed", 405],
  CONFLICT: ["Conflict", 409],
  LAST_OWNER: ["LastOwner", 409],
  USE_WIDENS: ["UseWidens", 409],
  REFERENCE_REFUSED: ["ReferenceRefused", 409],
  PATTERN_BROKEN: ["PatternBroken", 409],
  APPROVAL_NEEDED: ["ApprovalNeeded", 409],
  APPROVAL_REQUIRED: ["ApprovalRequired", 409],
  LIMIT_EXCEEDED: ["LimitExceeded", 409],
  PAYLOAD_TOO_LARGE: ["PayloadTooLarge", 413],
  UNSUPPORTED_MEDIA_TYPE: ["UnsupportedMediaType", 415],
  RATE_LIMITED: ["RateLimited", 429],
  USE_BUDGET: ["UseBudget", 429],
  SLOW_DOWN: ["SlowDown", 429],
  LOCKED_OUT: ["LockedOut", 429],
  DECRYPTION_FAILED: ["DecryptionFailed", 500],
  INTERNAL_ERROR: ["InternalError", 500],
  BACKUP_FAILED: ["BackupFailed", 502],
  UPSTREAM_FAILED: ["UpstreamFailed", 502],
  BROKER_DISABLED: ["BrokerDisabled", 503],
  BACKUPS_DISABLED: ["BackupsDisabled", 503],
  NOT_READY: ["NotReady", 503],
  ISSUER_UNAVAILABLE: ["IssuerUnavailable", 503],
  OVERLOADED: ["Overloaded", 503],
  DATABASE_UNAVAILABLE: ["DatabaseUnavailable", 503],
  OUTCOME_UNKNOWN: ["OutcomeUnknown", 503],
  STORAGE_FULL: ["StorageFull", 507]
}
