export interface Description {
  readonly variable: string
  readonly meaning: string
  /** As it would be written in the environment. */
  readonly default?: string
  /** Whether VARIABLE_FILE may name a file with the value. */
  readonly file?: true
  /** Whether the value is never shown. The values of variables with `file` never are. */
  readonly secret?: true
  /** When it is required; undefined if never. */
  readonly required?: string
}

export interface DescribedGroup {
  readonly title: string
  readonly variables: ReadonlyArray<Description>
}

/** All variables of the server, for the documentation. A test compares them with those that `loadConfig` reads. */
export const described: ReadonlyArray<DescribedGroup> = [
  {
    title: "Keys and data",
    variables: [
      {
        variable: "SERVICE_MASTER_KEY",
        meaning: "The key that everything is encrypted under. Keep a copy where a fire does not reach it",
        required: "always",
        file: true
      },
      {
        variable: "SERVICE_DB_PATH",
        meaning: "The database's file, made with mode 0600. Its directory must be writable: more files stand beside it",
        default: "service.db"
      }
    ]
  },
  {
    title: "Listening",
    variables: [
      {
        variable: "SERVICE_HOST",
        meaning:
          "The address to listen on. The server speaks plain HTTP and believes X-Real-Ip: keep it behind a proxy",
        default: "127.0.0.1"
      },
      { variable: "SERVICE_PORT", meaning: "The port to listen on; 0 takes a free one", default: "7100" },
      {
        variable: "CORS_ALLOWED_ORIGINS",
        meaning: "Web pages of these origins may call the API from browsers. Empty: none"
      },
      {
        variable: "SERVICE_METRICS_PORT",
        meaning: "Serves /metrics for Prometheus on 127.0.0.1 at this port. Empty: off"
      }
    ]
  },
  {
    title: "Mail",
    variables: [
      {
        variable: "SMTP_HOST",
        meaning: "The server that mails login codes; `log` prints codes in the server's log, for development",
        required: "always"
      },
      { variable: "SMTP_PORT", meaning: "465: TLS from the start; others: STARTTLS", default: "587" },
      { variable: "SMTP_USERNAME", meaning: "With the password, or neither: then mail goes without a login" },
      { variable: "SMTP_PASSWORD", meaning: "See SMTP_USERNAME", file: true },
      {
        variable: "SMTP_FROM",
        meaning: "The sender of the mails, such as `Coffer <coffer@example.com>`",
        required: "unless SMTP_HOST is `log`"
      },
      {
        variable: "SMTP_TLS",
        meaning: "`none` lets mail go unencrypted when the server offers no STARTTLS; on loopback that is always so",
        default: "required"
      },
      {
        variable: "SERVICE_INVITATION_MAIL",
        meaning: "`0`: an invitation to an organization is not mailed to whoever is invited",
        default: "1"
      }
    ]
  },
  {
    title: "Who may do what",
    variables: [
      {
        variable: "SUPERADMIN_EMAIL_0",
        meaning:
          "And `_1`, `_2`, …: who bypasses all roles and rules. Read at each start; who is no longer listed is demoted"
      },
      {
        variable: "SERVICE_SIGNUP",
        meaning:
          "`invited` mails codes only to invited people, superadmins and known users, with the same answer to all",
        default: "open"
      },
      {
        variable: "SERVICE_SIGNUP_DOMAINS",
        meaning: "With SERVICE_SIGNUP=invited: people of these domains need no invitation"
      },
      {
        variable: "SERVICE_ORG_CREATION",
        meaning: "`superadmin` lets only superadmins create organizations",
        default: "anyone"
      }
    ]
  },
  {
    title: "Backups",
    variables: [
      {
        variable: "BACKUP_S3_ENDPOINT",
        meaning: "The S3-compatible store. Without it and without BACKUP_DIR there are no backups",
        required: "with any other setting of backups, unless BACKUP_DIR is set"
      },
      { variable: "BACKUP_S3_REGION", meaning: "Its region", default: "us-east-1" },
      { variable: "BACKUP_S3_BUCKET", meaning: "The bucket", required: "with BACKUP_S3_ENDPOINT" },
      { variable: "BACKUP_S3_ACCESS_KEY", meaning: "The access key's id", required: "with BACKUP_S3_ENDPOINT" },
      {
        variable: "BACKUP_S3_SECRET_KEY",
        meaning: "The access key's secret",
        required: "with BACKUP_S3_ENDPOINT",
        file: true
      },
      { variable: "BACKUP_S3_PREFIX", meaning: "Put before every object's name, such as `coffer/`" },
      {
        variable: "BACKUP_DIR",
        meaning:
          "Instead of an S3-compatible store: an existing directory, on another disk than the database, that only the server's user can write to"
      },
      { variable: "BACKUP_SCHEDULE_HOURS", meaning: "Hours between automatic backups; 0: none", default: "0" },
      {
        variable: "BACKUP_RETAIN_DAILY_DAYS",
        meaning: "For how many days the newest backup of each day (UTC) is kept",
        default: "7"
      },
      {
        variable: "BACKUP_RETAIN_WEEKLY_WEEKS",
        meaning: "For how many ISO weeks one backup of each is kept",
        default: "4"
      }
    ]
  },
  {
    title: "Logs, audit and traces",
    variables: [
      {
        variable: "SERVICE_LOG_LEVEL",
        meaning: "The least that is logged. A login code of development mode is printed whatever it is",
        default: "info"
      },
      {
        variable: "SERVICE_LOG_FORMAT",
        meaning: "`pretty` for people, `json` for machines. Empty: `pretty` on a terminal, else `json`"
      },
      {
        variable: "SERVICE_AUDIT_STREAM",
        meaning: "Writes each committed audit entry as a line of JSON there, for a SIEM. Empty: off"
      },
      {
        variable: "SERVICE_AUDIT_REQUIRED",
        meaning: "`1`: a read waits for its audit entry's commit; a read or change whose entry cannot be written fails",
        default: "0"
      },
      {
        variable: "OTEL_EXPORTER_OTLP_ENDPOINT",
        meaning: "Sends traces over OTLP there. Empty: off"
      },
      { variable: "OTEL_SERVICE_NAME", meaning: "The service's name in traces", default: "coffer-server" },
      {
        variable: "OTEL_EXPORTER_OTLP_HEADERS",
        meaning: "Headers for the traces' receiver, with OTEL_EXPORTER_OTLP_ENDPOINT alone",
        secret: true
      }
    ]
  }
]
