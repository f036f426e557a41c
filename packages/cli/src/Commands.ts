import { aclCommand } from "./commands/access/AccessRules.js"
import { auditCommand } from "./commands/audit/Audit.js"
import { authCommands } from "./commands/auth/Auth.js"
import { backupCommand } from "./commands/backups/Backups.js"
import { composeCommand } from "./commands/compose/Compose.js"
import { completionsCommand } from "./commands/help/Completions.js"
import { checkCommand } from "./commands/declare/Check.js"
import { declareCommands } from "./commands/declare/Declare.js"
import { delegate, delegateList, delegateRevoke } from "./commands/delegations/Delegate.js"
import { delegateStore } from "./commands/delegations/DelegateStore.js"
import { doctorCommand } from "./commands/doctor/Doctor.js"
import { environmentCommand } from "./commands/environments/Environments.js"
import { helperCommand } from "./commands/helpers/Helpers.js"
import { importCommand } from "./commands/import/Import.js"
import { helpCommands } from "./commands/help/Help.js"
import { masterKeyCommand } from "./commands/master-key/MasterKey.js"
import { memberCommand } from "./commands/members/Members.js"
import { orgCommand } from "./commands/organizations/Organizations.js"
import { projectCommand } from "./commands/projects/Projects.js"
import { accessCommand } from "./commands/requests/Access.js"
import { requestCommand } from "./commands/requests/Requests.js"
import { verifyReleaseCommand } from "./commands/release/VerifyRelease.js"
import { connectionCommand } from "./commands/renewal/Connections.js"
import { leaseCommand } from "./commands/renewal/Leases.js"
import { roleCommand } from "./commands/renewal/Roles.js"
import { rotationCommand } from "./commands/renewal/Rotations.js"
import { renderCommand } from "./commands/render/Render.js"
import { runCommand } from "./commands/run/Run.js"
import { scanCommand } from "./commands/scan/Scan.js"
import { openCommand } from "./commands/help/Open.js"
import { dailyCommands } from "./commands/secrets/Daily.js"
import { secretCommand } from "./commands/secrets/Secrets.js"
import { featuresCommand, settingsCommand } from "./commands/help/Server.js"
import { groupCommand } from "./commands/groups/Groups.js"
import { scimCommand } from "./commands/scim/Scim.js"
import { serviceAccountCommand } from "./commands/service-accounts/ServiceAccounts.js"
import { passkeyCommand, reauthenticate } from "./commands/auth/Reauthenticate.js"
import { sessionCommand } from "./commands/sessions/Sessions.js"
import { setupCommands } from "./commands/setup/Setup.js"
import { pushCommand, targetCommand } from "./commands/targets/Targets.js"
import { userCommand } from "./commands/users/Users.js"
import { approvalCommand } from "./commands/use/Approvals.js"
import { useCommand } from "./commands/use/Use.js"
import { webhookCommand } from "./commands/webhooks/Webhooks.js"
import { type Row, type Tree, treeOf } from "./grammar/Tree.js"

const [login, logout, whoami, health] = authCommands
const [init, trust] = setupCommands
const [declare, declareList, declareRemove] = declareCommands
const [help, version] = helpCommands

const row = (text: string, ...nodes: Row["nodes"]): Row => ({ text, nodes })

/** Every command of the client. The help and the completions list them in this order. */
export const tree: Tree = treeOf({
  description: "Keeps secrets, and gives them to the programs that need them",
  begin: [
    { name: "coffer init", text: "Log in; choose what to use here" },
    { name: "coffer set API_KEY", text: "Store a secret" },
    { name: "coffer run npm start", text: "Run a program with the secrets" }
  ],
  old: [approvalCommand],
  sections: [
    {
      title: "START",
      rows: [
        row("Log in and out, your sessions", login, logout, sessionCommand),
        row("Prove that it is you", reauthenticate, passkeyCommand),
        row("Settings here; the web console", init, trust, openCommand),
        row("Who you are, and what is wrong", whoami, doctorCommand, health)
      ]
    },
    {
      title: "SECRETS",
      rows: [
        row("Read, write, list and change", ...dailyCommands),
        row("All of secrets; move in", secretCommand, importCommand),
        row("Where secrets are", projectCommand, environmentCommand),
        row("Give secrets to programs", runCommand, leaseCommand, renderCommand, composeCommand),
        row("Expected keys, values in files", declare, declareList, declareRemove, checkCommand, scanCommand)
      ]
    },
    {
      title: "PEOPLE AND RIGHTS",
      rows: [
        row("Organizations and people", orgCommand, memberCommand, scimCommand, userCommand),
        row("Who may do what; ask and vote", aclCommand, groupCommand, accessCommand, requestCommand)
      ]
    },
    {
      title: "MACHINES AND AGENTS",
      rows: [
        row(
          "Accounts and rights of programs",
          serviceAccountCommand,
          delegate,
          delegateList,
          delegateRevoke,
          delegateStore
        ),
        row("Use unseen; push; other tools", useCommand, pushCommand, targetCommand, helperCommand),
        row("Databases: renew and lease", connectionCommand, rotationCommand, roleCommand)
      ]
    },
    {
      title: "OPERATIONS",
      rows: [
        row("What was done; a release", auditCommand, verifyReleaseCommand),
        row("Copies; the key; events", backupCommand, masterKeyCommand, webhookCommand),
        row("What the server offers", featuresCommand, settingsCommand),
        row(
          "Completion and help",
          completionsCommand(() => tree),
          help,
          version
        )
      ]
    }
  ]
})
