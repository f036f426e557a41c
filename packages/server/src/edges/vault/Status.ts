import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** The version of Vault whose KV v2 API is served: clients compare it. */
const version = "1.15.0"
const cluster = { cluster_name: "coffer", cluster_id: "" }

export const health = Effect.map(Clock.currentTimeMillis, (millis) => ({
  initialized: true,
  sealed: false,
  standby: false,
  performance_standby: false,
  replication_performance_mode: "disabled",
  replication_dr_mode: "disabled",
  server_time_utc: Math.floor(millis / 1000),
  version,
  ...cluster
}))

export const leader = {
  ha_enabled: false,
  is_self: false,
  active_time: "0001-01-01T00:00:00Z",
  leader_address: "",
  leader_cluster_address: "",
  performance_standby: false,
  performance_standby_last_remote_wal: 0
}

export const seal = {
  type: "shamir",
  initialized: true,
  sealed: false,
  t: 1,
  n: 1,
  progress: 0,
  nonce: "",
  version,
  build_date: "",
  migration: false,
  ...cluster,
  recovery_seal: false,
  storage_type: ""
}

/** A project as a mount of KV version 2. */
export const mountOf = (project: string) => ({
  accessor: "",
  config: { default_lease_ttl: 0, max_lease_ttl: 0, force_no_cache: false },
  description: "",
  external_entropy_access: false,
  local: true,
  options: { version: "2" },
  path: `${project}/`,
  seal_wrap: false,
  type: "kv",
  uuid: ""
})
