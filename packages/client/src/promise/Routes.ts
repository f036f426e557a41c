/** Written by scripts/calls.mjs from the contract: change that, then run npm run generate. */
import type { ApiTag, Contract } from "./Contract.js"

/** The method and path of each call, and the names of its query and body, with `!` those that must be given. */
export const routes: { readonly [Group in keyof Contract]: { readonly [Name in keyof Contract[Group]]: string } } = {
  acl: {
    grant:
      "POST /api/orgs/{org_name}/acl  subject_type!,email,project_pattern!,env_pattern!,permission!,key_pattern,denies,expires_at,subject_id,group",
    list: "GET /api/orgs/{org_name}/acl",
    explain: "GET /api/orgs/{org_name}/acl/explain subject_type!,email,subject_id,project!,env!,key",
    access: "GET /api/orgs/{org_name}/access subject,limit,after",
    who: "GET /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/access permission,key,limit,after",
    review: "POST /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/access/reviews  permission,note",
    revoke: "DELETE /api/orgs/{org_name}/acl/{rule_id}"
  },
  approvals: {
    list: "GET /api/orgs/{org_name}/approvals",
    approve: "POST /api/orgs/{org_name}/approvals/{approval_id}/approve",
    refuse: "POST /api/orgs/{org_name}/approvals/{approval_id}/refuse"
  },
  audit: {
    list: "GET /api/orgs/{org_name}/audit-logs action,actor,actor_id,resource_type,project,env,key,since,until,limit,after",
    verify: "GET /api/orgs/{org_name}/audit-logs/verify from_seq,seq,chain",
    activity:
      "GET /api/orgs/{org_name}/audit-logs/activity action,actor,actor_id,resource_type,project,env,key,since,until,spans",
    listAll: "GET /api/audit-logs action,actor,actor_id,resource_type,project,env,key,since,until,limit,after,org_id",
    verifyAll: "GET /api/audit-logs/verify from_seq,seq,chain,org_id"
  },
  auth: {
    methods: "GET /api/auth/methods",
    login: "POST /api/auth/login  email!",
    verify: "POST /api/auth/verify  email!,code!,session,machine",
    device: "POST /api/auth/device  machine",
    token: "POST /api/auth/token  device_code,code,verifier",
    federate: "POST /api/auth/federate  token!,account!",
    logout: "DELETE /api/auth/logout",
    me: "GET /api/auth/me",
    sessions: "GET /api/auth/sessions",
    endSessions: "DELETE /api/auth/sessions others",
    endSession: "DELETE /api/auth/sessions/{session_id}"
  },
  backups: {
    create: "POST /api/backups",
    list: "GET /api/backups",
    restore: "POST /api/backups/{backup_id}/restore",
    drill: "POST /api/backups/drill  backup_id"
  },
  connections: {
    list: "GET /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/connections",
    create:
      "POST /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/connections  name!,kind,host!,port,database!,tls,ca,user!,password_key!",
    delete: "DELETE /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/connections/{connection_name}",
    test: "POST /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/connections/{connection_name}/test",
    removeOrphan:
      "DELETE /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/connections/{connection_name}/orphans/{lease_id}"
  },
  consents: {
    review: "POST /api/auth/consents/review  request!",
    create: "POST /api/auth/consents  request!,org!,project!,env!,also,permission!,keys,reveal!,expires_in!"
  },
  declared: {
    list: "GET /api/orgs/{org_name}/projects/{project_name}/declared",
    get: "GET /api/orgs/{org_name}/projects/{project_name}/declared/{key}",
    set: "PUT /api/orgs/{org_name}/projects/{project_name}/declared/{key}  required_in,pattern,description,example,owner",
    delete: "DELETE /api/orgs/{org_name}/projects/{project_name}/declared/{key}",
    check: "GET /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/check"
  },
  delegations: {
    create: "POST /api/auth/delegations  name!,org!,project!,env!,also,permission!,keys,reveal,expires_in!",
    list: "GET /api/auth/delegations",
    revoke: "DELETE /api/auth/delegations/{delegation_id}"
  },
  dues: {
    update:
      "PATCH /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/secrets/{key}  expires_at,rotate_every_days,owner",
    list: "GET /api/orgs/{org_name}/secrets/due within,limit,after"
  },
  environments: {
    create: "POST /api/orgs/{org_name}/projects/{project_name}/envs  name!,from,keys,expires_at",
    list: "GET /api/orgs/{org_name}/projects/{project_name}/envs",
    extend: "PATCH /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}  expires_at!",
    delete: "DELETE /api/orgs/{org_name}/projects/{project_name}/envs/{env_name} force",
    matrix: "GET /api/orgs/{org_name}/projects/{project_name}/matrix envs,format",
    bundle: "GET /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/bundle keys,format,raw",
    writeBundle:
      "PATCH /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/bundle  set,references,delete,force,note,dry_run",
    copy: "POST /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/copy  from!,keys,dry_run",
    diff: "GET /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/diff with!,resolved",
    revisions: "GET /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/revisions limit,before",
    revert: "POST /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/revert  to!,force,dry_run"
  },
  exports: {
    create: "POST /api/orgs/{org_name}/exports  versions",
    list: "GET /api/orgs/{org_name}/exports",
    get: "GET /api/orgs/{org_name}/exports/{export_id}",
    end: "DELETE /api/orgs/{org_name}/exports/{export_id}",
    approve: "POST /api/orgs/{org_name}/exports/{export_id}/approve",
    structure: "GET /api/orgs/{org_name}/exports/{export_id}/structure",
    declared: "GET /api/orgs/{org_name}/exports/{export_id}/declared project!",
    secrets: "GET /api/orgs/{org_name}/exports/{export_id}/secrets project!,env!,after"
  },
  federations: {
    create:
      "POST /api/orgs/{org_name}/service-accounts/{sa_id}/federations  name!,issuer!,jwks,conditions!,max_age,ttl,expires_at",
    list: "GET /api/orgs/{org_name}/service-accounts/{sa_id}/federations",
    try: "POST /api/orgs/{org_name}/service-accounts/{sa_id}/federations/try  token!",
    revoke: "DELETE /api/orgs/{org_name}/service-accounts/{sa_id}/federations/{federation_id}"
  },
  groups: {
    create: "POST /api/orgs/{org_name}/groups  name!",
    list: "GET /api/orgs/{org_name}/groups",
    get: "GET /api/orgs/{org_name}/groups/{group_name}",
    rename: "PATCH /api/orgs/{org_name}/groups/{group_name}  name!",
    remove: "DELETE /api/orgs/{org_name}/groups/{group_name}",
    members: "GET /api/orgs/{org_name}/groups/{group_name}/members",
    setMembers: "PUT /api/orgs/{org_name}/groups/{group_name}/members  emails!",
    addMember: "POST /api/orgs/{org_name}/groups/{group_name}/members  email!",
    removeMember: "DELETE /api/orgs/{org_name}/groups/{group_name}/members/{user_id}",
    mappings: "GET /api/orgs/{org_name}/group-mappings",
    setMappings: "PUT /api/orgs/{org_name}/group-mappings  mappings!"
  },
  history: {
    list: "GET /api/orgs/{org_name}/projects/{project_name}/revisions limit,after"
  },
  imports: {
    create: "POST /api/imports  name!,organization!",
    declared: "PUT /api/imports/{import_id}/declared  project!,data!",
    secrets: "PUT /api/imports/{import_id}/secrets  project!,env!,data!",
    finish: "POST /api/imports/{import_id}/finish  counts!,name",
    abandon: "DELETE /api/imports/{import_id}"
  },
  keys: {
    find: "GET /api/orgs/{org_name}/keys query!,limit,after"
  },
  leaseRoles: {
    list: "GET /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/roles",
    create:
      "POST /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/roles  name!,connection!,create,revoke,default_ttl,max_ttl",
    get: "GET /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/roles/{role_name}",
    delete: "DELETE /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/roles/{role_name}"
  },
  leases: {
    list: "GET /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/leases",
    create: "POST /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/roles/{role_name}/leases  ttl",
    renew: "POST /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/leases/{lease_id}/renew  ttl",
    revoke: "DELETE /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/leases/{lease_id}"
  },
  members: {
    invite: "POST /api/orgs/{org_name}/members  email!,role",
    list: "GET /api/orgs/{org_name}/members",
    setRole: "PATCH /api/orgs/{org_name}/members/{user_id}  role!",
    remove: "DELETE /api/orgs/{org_name}/members/{user_id}",
    leave: "DELETE /api/orgs/{org_name}/members/me"
  },
  organizations: {
    create: "POST /api/orgs  name!",
    list: "GET /api/orgs",
    get: "GET /api/orgs/{org_name}",
    update: "PATCH /api/orgs/{org_name}  name,passkey_recovery,unused_access_mail",
    delete: "DELETE /api/orgs/{org_name}"
  },
  overview: {
    show: "GET /api/orgs/{org_name}/overview limit,after"
  },
  passkeys: {
    list: "GET /api/auth/passkeys",
    create: "POST /api/auth/passkeys  name!,credential!",
    options: "POST /api/auth/passkeys/options",
    delete: "DELETE /api/auth/passkeys/{passkey_id}",
    challenge: "POST /api/auth/passkeys/challenge  session_id",
    verify: "POST /api/auth/passkeys/verify  credential!"
  },
  previews: {
    get: "GET /api/orgs/{org_name}/projects/{project_name}/previews",
    set: "PUT /api/orgs/{org_name}/projects/{project_name}/previews  from!,pattern!,max,longest",
    remove: "DELETE /api/orgs/{org_name}/projects/{project_name}/previews"
  },
  projects: {
    create: "POST /api/orgs/{org_name}/projects  name!",
    list: "GET /api/orgs/{org_name}/projects",
    get: "GET /api/orgs/{org_name}/projects/{project_name}",
    rename: "PATCH /api/orgs/{org_name}/projects/{project_name}  name,strict,order",
    delete: "DELETE /api/orgs/{org_name}/projects/{project_name}"
  },
  protections: {
    get: "GET /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/protection",
    set: "PUT /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/protection  needed!,approvers!,self,break_glass,expires_after,passkey",
    remove: "DELETE /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/protection"
  },
  requests: {
    create: "POST /api/orgs/{org_name}/requests  kind!,project!,env!,permission!,expires_in!,reason!",
    list: "GET /api/orgs/{org_name}/requests state,kind,limit,after",
    get: "GET /api/orgs/{org_name}/requests/{request_id}",
    values: "GET /api/orgs/{org_name}/requests/{request_id}/values",
    approve: "POST /api/orgs/{org_name}/requests/{request_id}/approve  comment",
    refuse: "POST /api/orgs/{org_name}/requests/{request_id}/refuse  comment",
    withdraw: "POST /api/orgs/{org_name}/requests/{request_id}/withdraw"
  },
  rotations: {
    list: "GET /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/rotations",
    create:
      "POST /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/rotations  name!,connection!,users!,writes!,every,window,length,alphabet",
    get: "GET /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/rotations/{rotation_name}",
    update:
      "PATCH /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/rotations/{rotation_name}  writes,every,window,paused",
    delete: "DELETE /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/rotations/{rotation_name}",
    run: "POST /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/rotations/{rotation_name}/run"
  },
  scim: {
    get: "GET /api/orgs/{org_name}/scim",
    enable: "POST /api/orgs/{org_name}/scim",
    disable: "DELETE /api/orgs/{org_name}/scim",
    rotate: "POST /api/orgs/{org_name}/scim/rotate"
  },
  secrets: {
    set: "PUT /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/secrets/{key}  value!,kind,expected_version",
    get: "GET /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/secrets/{key} version,raw",
    delete: "DELETE /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/secrets/{key} expected_version,force",
    list: "GET /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/secrets due_within,removed,key,limit,after",
    references: "GET /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/secrets/{key}/references",
    versions:
      "GET /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/secrets/{key}/versions limit,before,compare",
    rollback:
      "POST /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/secrets/{key}/rollback  version!,expected_version",
    undelete: "POST /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/secrets/{key}/undelete",
    destroy: "POST /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/secrets/{key}/destroy  versions!"
  },
  server: {
    show: "GET /api/server",
    settings: "GET /api/server/settings"
  },
  serviceAccounts: {
    create: "POST /api/orgs/{org_name}/service-accounts  name!,project,reveal,key,allowed_networks,expires_in_days",
    list: "GET /api/orgs/{org_name}/service-accounts",
    update: "PATCH /api/orgs/{org_name}/service-accounts/{sa_id}  allowed_networks",
    revoke: "DELETE /api/orgs/{org_name}/service-accounts/{sa_id}",
    rotate: "POST /api/orgs/{org_name}/service-accounts/{sa_id}/rotate  grace_seconds"
  },
  system: {
    health: "GET /health",
    ready: "GET /health/ready",
    openApi: "GET /openapi.json"
  },
  targets: {
    list: "GET /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/targets",
    create:
      "POST /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/targets  name!,kind!,place!,credential_key!,prefix,keys,rename,remove,automatic",
    get: "GET /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/targets/{target_name}",
    update:
      "PATCH /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/targets/{target_name}  automatic,paused",
    delete: "DELETE /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/targets/{target_name}",
    plan: "POST /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/targets/{target_name}/plan  take_over",
    check: "POST /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/targets/{target_name}/check",
    push: "POST /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/targets/{target_name}/push  plan!,take_over"
  },
  trash: {
    organizations: "GET /api/trash name",
    restoreOrganization: "POST /api/trash/{removed_id}/restore  name",
    eraseOrganization: "POST /api/trash/{removed_id}/erase  name!",
    projects: "GET /api/orgs/{org_name}/trash name",
    restoreProject: "POST /api/orgs/{org_name}/trash/{removed_id}/restore  name",
    eraseProject: "POST /api/orgs/{org_name}/trash/{removed_id}/erase  name!",
    environments: "GET /api/orgs/{org_name}/projects/{project_name}/trash name",
    restoreEnvironment: "POST /api/orgs/{org_name}/projects/{project_name}/trash/{removed_id}/restore  name",
    eraseEnvironment: "POST /api/orgs/{org_name}/projects/{project_name}/trash/{removed_id}/erase  name!"
  },
  use: {
    uses: "GET /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/uses",
    use: "POST /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/use  method!,url!,headers,body,body_base64,stream,store,secrets!"
  },
  useRules: {
    list: "GET /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/secrets/{key}/use-rules",
    create:
      "POST /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/secrets/{key}/use-rules  hosts!,paths!,place!,accounts!,methods,per_minute,per_day,response,max_kib,approval,expires_at",
    update:
      "PATCH /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/secrets/{key}/use-rules/{use_rule_id}  hosts,paths,place,accounts,methods,per_minute,per_day,response,max_kib,approval,expires_at",
    delete: "DELETE /api/orgs/{org_name}/projects/{project_name}/envs/{env_name}/secrets/{key}/use-rules/{use_rule_id}"
  },
  users: {
    list: "GET /api/users email,disabled,limit,after",
    disable: "POST /api/users/{user_id}/disable",
    enable: "POST /api/users/{user_id}/enable",
    endSessions: "POST /api/users/{user_id}/end-sessions"
  },
  webhooks: {
    create: "POST /api/orgs/{org_name}/webhooks  url!,events!,environments,format",
    list: "GET /api/orgs/{org_name}/webhooks",
    get: "GET /api/orgs/{org_name}/webhooks/{webhook_id}",
    update: "PATCH /api/orgs/{org_name}/webhooks/{webhook_id}  url,events,environments,format,enabled,skip",
    delete: "DELETE /api/orgs/{org_name}/webhooks/{webhook_id}",
    rotateKey: "POST /api/orgs/{org_name}/webhooks/{webhook_id}/rotate-key  grace_seconds",
    test: "POST /api/orgs/{org_name}/webhooks/{webhook_id}/test",
    deliveries: "GET /api/orgs/{org_name}/webhooks/{webhook_id}/deliveries limit,after",
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
